/** Requests that this server refuses by itself, without asking the master. They go into the audit log of the master. */
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../base/error-codes.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { plainAddress } from '../base/net/same-client.ts'
import { valueText } from '../dialect/json.ts'
import type { ApiRefusal } from '../wire/api-refusal.ts'
import type { Chunk } from './chunk.ts'
import type { ApiContext } from './context.ts'

/** Members of the line about a refusal in the audit log. The defaults are those of a request that was not parsed yet. */
export type Denied = Partial<Pick<ApiRefusal, 'act' | 'user' | 'fun' | 'rule' | 'reason'>>

/** Create the error of a refusal that goes into the audit log. */
export const denial = (code: ErrorCode, message: string, denied: Denied = {}, data: object = {}): SaltError =>
  new SaltError(code, message, { ...data, denied })

/** Send a refusal to the audit log if the error that ended the request is one. */
export function auditDenial(context: ApiContext, request: FastifyRequest, error: unknown): void {
  if (!SaltError.is(error) || !isDenied(error.data.denied)) return
  sendToAuditLog(context, request, { reason: messageOf(error), ...error.data.denied })
}

const isDenied = (denied: unknown): denied is Denied => typeof denied === 'object' && denied !== null

/**
 * Send a refusal to the audit log of the master. Nothing waits for it: the time of an answer must not reveal whether
 * a guess was right.
 */
export function sendToAuditLog(
  { refusals }: ApiContext,
  { method, routeOptions, ip }: FastifyRequest,
  { act = 'request', user = '', reason = '', ...denied }: Denied,
): void {
  const request = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`
  const texts = { user: short(user), reason: short(reason) }
  void refusals.note({ act, request, ...denied, ...texts, via: { address: plainAddress(ip) } })
}

/** Describe a chunk that had no credentials, or names a client that is not served. */
export function deniedOf({ client, fun, username }: Chunk): Denied {
  const [act] = (['runner', 'wheel'] as const).filter((kind) => valueText(client).startsWith(kind))
  return {
    act: act ?? 'publish',
    user: typeof username === 'string' ? username : '',
    ...(fun !== undefined && { fun: short([fun].flat().map(valueText).join(',')) }),
  }
}

const short = (text: string): string => text.slice(0, 256)
