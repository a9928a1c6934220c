/** The clients of a lowstate (`local`, `runner_async`, …), and the dispatch of chunks to them. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { SaltError } from '../base/errors.ts'
import type { ExternalAuth } from '../client/local/external-auth.ts'
import { valueText } from '../dialect/json.ts'
import { checkLogIn } from './addresses.ts'
import type { Chunk } from './chunk.ts'
import { type ApiContext, contextFor } from './context.ts'
import { denial, deniedOf } from './denials.ts'
import { authOf } from './identity.ts'
import { publishAndWait, publishAsync, publishInBatches, publishToSubset } from './publish.ts'
import { runRunner, runWheel, startRunner, startWheel } from './run.ts'
import { untilClientLeaves } from './waits.ts'

export interface ApiCall {
  readonly context: ApiContext
  readonly chunk: Chunk
  readonly auth: ExternalAuth
  /** Aborted when nobody waits for the result any more. */
  readonly signal: AbortSignal
}

/** Returns the items of the answer: one, or one per minion for a batch. */
type Client = (call: ApiCall) => Promise<unknown[]>

const single =
  (client: (call: ApiCall) => Promise<unknown>): Client =>
  async (call) => [await client(call)]

const CLIENTS_BY_NAME: ReadonlyMap<unknown, Client> = new Map([
  ['local', single(publishAndWait)],
  ['local_async', single(publishAsync)],
  ['local_batch', publishInBatches],
  ['local_subset', single(publishToSubset)],
  ['runner', single(runRunner)],
  ['runner_async', single(startRunner)],
  ['wheel', single(runWheel)],
  ['wheel_async', single(startWheel)],
])

/** The names in Salt's order, without `ssh`. As in Salt, also those that `netapi_enable_clients` does not have. */
export const CLIENT_NAMES: readonly unknown[] = [...CLIENTS_BY_NAME.keys()]

/** Run the chunks of a request, and wait until they have ended or its HTTP client disconnects. */
export const runForRequest = (
  context: ApiContext,
  [request, reply]: readonly [FastifyRequest, FastifyReply],
  chunks: readonly Chunk[],
  token: string | undefined,
): Promise<unknown[]> =>
  untilClientLeaves(context, reply, (signal) =>
    runLowstate(
      contextFor(context, request),
      chunks,
      (chunk) => admitted(chunk, token, request, context),
      signal,
    ),
  )

/** Run chunk after chunk. The first one that fails fails the request. */
async function runLowstate(
  context: ApiContext,
  chunks: readonly Chunk[],
  authFor: (chunk: Chunk) => ExternalAuth,
  signal: AbortSignal,
): Promise<unknown[]> {
  const items: unknown[] = []
  for (const chunk of chunks) {
    const client = clientOf(chunk, context)
    items.push(...(await client({ context, chunk, auth: authFor(chunk), signal })))
  }
  return items
}

/** Return the credentials for a chunk, if those of its own may be used from the address of the request. */
function admitted(
  chunk: Chunk,
  token: string | undefined,
  { ip }: FastifyRequest,
  { settings }: ApiContext,
): ExternalAuth {
  const auth = authOf(chunk, token)
  if (!('token' in auth)) checkLogIn(auth.username, ip, settings, deniedOf(chunk))
  return auth
}

function clientOf(chunk: Chunk, { config }: ApiContext): Client {
  const { client, raw_shell } = chunk
  const found = CLIENTS_BY_NAME.get(client)
  if (client === 'ssh')
    throw new SaltError('INVOCATION', "The client 'ssh' is not supported: there is no salt-ssh.")
  if (!found) throw new SaltError('INVOCATION', `Invalid client specified: '${valueText(client ?? 'None')}'`)
  if (!config.netapi_enable_clients.includes(String(client)))
    throw denial(
      'INVOCATION',
      `Client disabled: '${client}'. Add to 'netapi_enable_clients' master config option to enable.`,
      { ...deniedOf(chunk), rule: 'netapi_enable_clients' },
    )
  if (raw_shell) throw denial('AUTHENTICATION_FAILED', 'Raw shell option not allowed.', deniedOf(chunk))
  return found
}
