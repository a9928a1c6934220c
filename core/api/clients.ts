/** The clients of a lowstate, and how a chunk goes to one of them. */
import { SaltError } from '../base/errors.ts'
import type { ExternalAuth } from '../client/external-auth.ts'
import type { Chunk } from './chunk.ts'
import { denial, deniedOf } from './denials.ts'
import { authOf } from './identity.ts'
import { publishAndWait, publishInBatches, publishOnly, publishToSome } from './publish.ts'
import type { ApiRoom } from './room.ts'
import { runAndWait, runOnly, runWheel, startWheel } from './run.ts'

export interface Call {
  readonly room: ApiRoom
  readonly chunk: Chunk
  readonly auth: ExternalAuth
  /** Aborted when nobody waits any more. */
  readonly signal: AbortSignal
}

/** What a client gives is one item of the answer, or of a batch one for each minion. */
type Client = (call: Call) => Promise<unknown[]>

const one =
  (client: (call: Call) => Promise<unknown>): Client =>
  async (call) => [await client(call)]

const TABLE: ReadonlyMap<unknown, Client> = new Map([
  ['local', one(publishAndWait)],
  ['local_async', one(publishOnly)],
  ['local_batch', publishInBatches],
  ['local_subset', one(publishToSome)],
  ['runner', one(runAndWait)],
  ['runner_async', one(runOnly)],
  ['wheel', one(runWheel)],
  ['wheel_async', one(startWheel)],
])

/** In the order Salt lists them, without `ssh`; as there, whether `netapi_enable_clients` has them or not. */
export const CLIENTS: readonly unknown[] = [...TABLE.keys()]

/** Run chunk after chunk; the first that fails fails the request. `token`: of the request. */
export async function runLowstate(
  room: ApiRoom,
  chunks: readonly Chunk[],
  token: string | undefined,
  signal: AbortSignal,
): Promise<unknown[]> {
  const items: unknown[] = []
  for (const chunk of chunks) {
    const client = clientOf(chunk, room)
    items.push(...(await client({ room, chunk, auth: authOf(chunk, token), signal })))
  }
  return items
}

function clientOf(chunk: Chunk, { config }: ApiRoom): Client {
  const { client, raw_shell } = chunk
  const found = TABLE.get(client)
  if (client === 'ssh')
    throw new SaltError(
      'INVOCATION',
      'This server has no ssh client: it reaches hosts by their minions only.',
    )
  if (!found) throw new SaltError('INVOCATION', `Invalid client specified: '${client ?? 'None'}'`)
  if (!config.netapi_enable_clients.includes(String(client)))
    throw denial(
      'INVOCATION',
      `Client disabled: '${client}'. Add to 'netapi_enable_clients' master config option to enable.`,
      { ...deniedOf(chunk), rule: 'netapi_enable_clients' },
    )
  if (raw_shell) throw denial('AUTHENTICATION_FAILED', 'Raw shell option not allowed.', deniedOf(chunk))
  return found
}
