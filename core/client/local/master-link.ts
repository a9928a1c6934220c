import type { Log } from '../../author/context.ts'
import { currentUser } from '../../base/current-user.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { EventBus, masterEventSockets } from '../../events/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { readRootKey, signForAddress } from '../../keys/index.ts'
import { component } from '../../log/component.ts'
import type { Via } from '../../wire/via.ts'
import { limitRequests } from './limit-requests.ts'
import { localRecords, type MasterRecords } from './master-records.ts'
import { askMaster, connectMaster, requestUri, unreachable } from './master-requests.ts'

/** The events of a master: subscribe and fire. */
export type MasterEvents = Pick<EventBus, 'subscribe' | 'fire'>

/** The connection of a client to its master; several clients may share one. */
export interface MasterLink {
  readonly events: MasterEvents
  readonly records: MasterRecords
  /** Send one clear command (wire protocol §8). Rejects with MASTER_UNREACHABLE if there is no answer in time. */
  ask(load: Readonly<Record<string, unknown>>, timeoutMs: number, via?: Via): Promise<unknown>
  close(): Promise<void>
}

/** Return a link whose requests are passed on for a user at this address. */
export const linkForAddress = <L extends MasterLink>(link: L, address: string): L => ({
  ...link,
  ask: (load, timeoutMs) => link.ask(load, timeoutMs, { address }),
})

export interface LocalLinkOptions {
  readonly failFast?: boolean
  readonly log?: Log | undefined
  /** The job cache, if this process has it open already. */
  readonly jobs?: JobCache | undefined
}

/**
 * Connect through the sockets of the master's host. With `failFast` requests fail at once while nothing listens there.
 * @throws SaltError MASTER_UNREACHABLE, PERMISSIONS for users who may not listen to its events
 */
export async function linkLocal(
  config: MasterConfig,
  { log, jobs, ...patience }: LocalLinkOptions = {},
): Promise<MasterLink> {
  const events = await EventBus.connect({ ...masterEventSockets(config), ...(log && { log }) }).catch(
    (error: unknown) => {
      throw SaltError.is(error) && error.code === 'PERMISSIONS'
        ? forbidden(config)
        : unreachable(config, error)
    },
  )
  const requests = connectMaster(config, patience)
  const details = log && component(log, 'channel.client')
  details?.debug('Initializing new AsyncZeroMQReqChannel for {uri}', { uri: requestUri(config) })
  return {
    events,
    records: localRecords(config, jobs),
    ask: limitRequests(async (load, timeoutMs, via) => {
      details?.trace('ReqChannel send clear load={load}', { load: shownLoad(load) })
      return askMaster(requests, config, load, timeoutMs, via && (await vouched(via, load, config)))
    }),
    async close() {
      details?.debug('Closing AsyncReqChannel instance')
      await requests.close()
      await events.close()
    },
  }
}

function forbidden({ publisher_acl, conf_file, sock_dir, user: master }: MasterConfig): SaltError {
  const user = currentUser()
  const advice = Object.hasOwn(publisher_acl, user)
    ? `publisher_acl names '${user}': make a group of all users that it names (${master} may be in it, and nobody else), and ` +
      'have root restart salt-master'
    : `Use sudo, or add '${user}' to publisher_acl in ${conf_file}`
  return new SaltError(
    'PERMISSIONS',
    `User '${user}' may not read the events of this master (in ${sock_dir}). No command was sent. ${advice}.`,
  )
}

/** Prove the address of a sign-in to the master, which counts wrong passwords by address. */
async function vouched(via: Via, load: Load, config: MasterConfig): Promise<Via> {
  if (load.cmd !== 'mk_token' && !('eauth' in load) && !(isRecord(load.kwargs) && 'eauth' in load.kwargs))
    return via
  const key = await readRootKey(config, config.user)
  return key ? { ...via, proof: signForAddress(key, via.address) } : via
}

/** Leave out the arguments: only the master knows which of them are secret. */
const shownLoad = ({ cmd, fun, tgt, tgt_type, jid, ret, user }: Load) => ({
  cmd,
  fun,
  tgt,
  tgt_type,
  jid,
  ret,
  user,
})

type Load = Readonly<Record<string, unknown>>
