import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { createRequestChannel, type RequestChannel } from '../../channel/request-channel.ts'
import { getNetworkTransport } from '../../transport/index.ts'
import type { MinionResult } from '../local/contract.ts'
import { limitRequests } from '../local/limit-requests.ts'
import type { MasterLink } from '../local/master-link.ts'
import type { MasterRecords } from '../local/master-records.ts'
import { resultOf } from '../local/pending-returns.ts'
import { type RefusalLog, remoteRefusalLog } from './refusal-log.ts'
import { RemoteEvents } from './remote-events.ts'
import type { RemoteMaster } from './remote-master.ts'
import { algorithms, RemoteSignIn, unreachable } from './remote-sign-in.ts'

const RECORDS_MS = 15_000
const FIRE_MS = 15_000

/** A link that can also record refusals of this server. */
export type RemoteLink = MasterLink & { readonly refusals: Pick<RefusalLog, 'note'> }

/**
 * Connect to a master on another host (core/channel, "Clients of the API"): requests are encrypted, events come over TCP.
 * Resolves when the master has accepted the key of this host and events come, however long that takes.
 * @throws SaltError PERMISSIONS, KEY_INVALID, FINGERPRINT_WRONG, MASTER_KEY_CHANGED, and the reason of `signal`
 */
export async function linkRemote(
  master: RemoteMaster,
  { log, signal }: { log: Log; signal?: AbortSignal },
): Promise<RemoteLink> {
  const { host, port, ipv6, id } = master
  const client = getNetworkTransport('zeromq').connectRequests({ host, port, ipv6, failFast: true })
  const signIn = await RemoteSignIn.open(master, client, log)
  const channel = createRequestChannel({
    client,
    id,
    key: signIn.key,
    algorithms,
    credentials: () => signIn.credentials(),
    renew: (stale) => signIn.renew(stale),
    now: Date.now,
  })
  const request = askOver(channel, `${host}:${port}`)
  const events = new RemoteEvents(master, signIn, log, async (tag, data) => {
    const { fired } = await request({ cmd: '_client_event', tag, data }, FIRE_MS)
    if (fired !== true) throw notFired(tag)
  })
  const close = async () => {
    events.close()
    await client.close()
  }
  const leave = () => events.close()
  signal?.addEventListener('abort', leave)
  try {
    signal?.throwIfAborted()
    await events.open()
  } catch (error) {
    await close()
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', leave)
  }
  return {
    events,
    records: remoteRecords(request),
    refusals: remoteRefusalLog(request, log),
    ask: limitRequests(async (load, timeoutMs, via) => {
      await events.ready()
      const passed = { cmd: '_client_request', load, ...(via && { via }) }
      return (await request(passed, timeoutMs)).reply
    }),
    close,
  }
}

type Ask = (
  load: Readonly<Record<string, unknown>>,
  timeoutMs: number,
) => Promise<Readonly<Record<string, unknown>>>

/** Return a function that sends requests. A master that does not know this host as a client of its API answers with an empty map. */
function askOver(channel: RequestChannel, where: string): Ask {
  return async (load, timeoutMs) => {
    const reply = await channel.request(load, timeoutMs).catch((error: unknown) => {
      throw SaltError.is(error) && error.code === 'TIMEOUT' ? unreachable(where, error) : error
    })
    if (isRecord(reply) && Object.keys(reply).length > 0) return reply
    throw new SaltError(
      'AUTHENTICATION_FAILED',
      `The master at ${where} refused the request. Either its api_clients do not name this host, or the request failed there: see its log.`,
    )
  }
}

function remoteRecords(request: Ask): MasterRecords {
  return {
    async *returns(jid, ids): AsyncGenerator<MinionResult> {
      for (let rest = ids; rest.length > 0; ) {
        const answer = await request({ cmd: '_client_returns', jid, ids: rest }, RECORDS_MS)
        yield* resultsIn(answer, jid)
        rest = texts(answer.rest)
      }
    },
    async *run(jid): AsyncGenerator<MinionResult> {
      yield* resultsIn(await request({ cmd: '_client_returns', jid, run: true }, RECORDS_MS), jid)
    },
    async silence(ids, jid) {
      const answer = await request({ cmd: '_client_silence', ids: [...ids], jid }, RECORDS_MS)
      const [denied, lost] = [texts(answer.denied), texts(answer.lost)]
      return { denied, lost, reconnecting: texts(answer.reconnecting), waiting: texts(answer.waiting) }
    },
  }
}

function* resultsIn({ returns }: Readonly<Record<string, unknown>>, jid: string): Generator<MinionResult> {
  for (const [id, ret] of Object.entries(isRecord(returns) ? returns : {}))
    if (isRecord(ret)) yield resultOf(id, { ...ret, jid })
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const notFired = (tag: string) =>
  new SaltError(
    'INVOCATION',
    `The master did not fire the event ${tag}: over the network it only fires events of hooks of the API.`,
  )
