import { join } from 'node:path'
import type { Log } from '../author/context.ts'
import { Disposer } from '../base/disposer.ts'
import { makeDirectory } from '../base/files/directory.ts'
import { repeat } from '../base/repeat.ts'
import { LocalClient } from '../client/index.ts'
import { linkLocal } from '../client/local/master-link.ts'
import { retryUntilConnected } from '../client/remote/retry-until-connected.ts'
import type { Transports } from '../config/index.ts'
import { tags } from '../events/index.ts'
import { openJobCache } from '../jobs/open-job-cache.ts'
import { knownMasterKey, MinionKeys } from '../keys/minion-keys.ts'
import { masterAddresses } from '../minion/link/master-addresses.ts'
import { lockDirectory } from '../transport/directory-lock.ts'
import { newStartToken } from '../wire/minion-start.ts'
import { forwardEvents } from './event-forwarder.ts'
import { Origins } from './origins.ts'
import type { SyndicConfig } from './settings.ts'
import { Uplink } from './uplink.ts'

export interface Syndic {
  /** Serve the masters above until closed. Rejects when the syndic has given up on every one of them. */
  run(): Promise<void>
  close(): Promise<void>
}

/** How long to wait for the master of this host between attempts. */
const RETRY = { minMs: 200, maxMs: 5_000 }
/** Interval of checks for items that were stored while their event did not arrive here. */
const LOOK_MS = 1_000
const EXPIRE_MS = 3_600_000
/** The least time for which it is known where a job came from. */
const MIN_KEEP_MS = 86_400_000

/** Open a syndic. Resolves once the master of this host answers. */
export async function openSyndic(
  config: SyndicConfig,
  log: Log,
  { transports, signal }: { readonly transports: Transports; readonly signal: AbortSignal },
): Promise<Syndic> {
  const { master, upward } = config
  const disposer = new Disposer()
  try {
    const directory = join(master.cachedir, 'syndic')
    await makeDirectory(directory)
    const onProblem = (sentence: string) => log.warn(sentence)
    disposer.own(await lockDirectory({ directory, program: 'salt-syndic', id: upward.id, onProblem }))
    const keys = await MinionKeys.open(upward)
    const link = disposer.own(
      await retryUntilConnected(() => linkLocal(master, { log }), { retry: RETRY, log, signal }),
    )
    const jobs = disposer.own(openJobCache(master))
    const origins = disposer.own(Origins.open(directory))
    const client = new LocalClient(master, link, undefined, log)
    const closing = new AbortController()
    const startToken = newStartToken()
    const uplinks: Uplink[] = masterAddresses(upward).map(
      (address, index) =>
        new Uplink({
          config,
          address,
          client,
          jobs,
          origins,
          log,
          startToken,
          master: address.text,
          transport: transports(address.transport),
          key: keys.key,
          signingKey: keys.signingKey,
          known: knownMasterKey(join(upward.pki_dir, 'syndic_master.pub')),
          signal: closing.signal,
          takesOwnJobs: () => preferred() === uplinks[index],
        }),
    )
    const inOrder = master.syndic_failover === 'random' ? shuffled(uplinks) : uplinks
    const preferred = () => inOrder.find((uplink) => uplink.isConnected) ?? inOrder[0]
    const wake = () => {
      for (const uplink of uplinks) uplink.wake()
    }
    const stored = link.events.subscribe(tags.jobs, closing.signal, {
      maxEvents: 1,
      onReadable: () => {
        stored.shift()
        wake()
      },
    })
    const timer = setInterval(wake, LOOK_MS)
    const expiring = repeat(
      () => origins.expire(Date.now() - Math.max(master.keep_jobs_seconds * 1000, MIN_KEEP_MS)),
      EXPIRE_MS,
      (error) => log.warn(String(error)),
    )
    const receivers = uplinks.map((uplink) => ({
      // A master that does not answer would delay the events for the others.
      wants: (jid: string | undefined) => uplink.isConnected && uplink.wants(jid),
      send: uplink.sendEvents.bind(uplink),
    }))
    const gatherMs = master.syndic_event_forward_timeout * 1000
    const forwarding = forwardEvents(link.events, receivers, { gatherMs, log, signal: closing.signal })
    return {
      async run() {
        const ends = await Promise.allSettled(uplinks.map((uplink) => uplink.run()))
        const failed = ends.find((end) => end.status === 'rejected')
        if (failed && ends.every((end) => end.status === 'rejected')) throw failed.reason
      },
      async close() {
        closing.abort()
        clearInterval(timer)
        await expiring.close()
        await Promise.all([forwarding.ended, ...uplinks.map((uplink) => uplink.close())])
        await disposer.close()
      },
    }
  } catch (error) {
    await disposer.close()
    throw error
  }
}

const shuffled = <T>(items: readonly T[]): T[] =>
  items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
