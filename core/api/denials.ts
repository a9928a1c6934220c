/** What this server refuses without asking the master, because of who asks, or from where. */
import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../base/error-codes.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { plainAddress } from '../base/same-client.ts'
import type { ApiRefusal } from '../wire/api-refusal.ts'
import type { Chunk } from './chunk.ts'
import type { ApiRoom } from './room.ts'

/** What the audit log has of it; what is not said stands for a request that nobody has looked at. */
export type Denied = Partial<Pick<ApiRefusal, 'act' | 'user' | 'fun' | 'rule' | 'reason'>>

/** Answered as any other error. */
export const denial = (
  code: ErrorCode,
  sentence: string,
  denied: Denied = {},
  facts: object = {},
): SaltError => new SaltError(code, sentence, { ...facts, denied })

/** Of one that such an error has ended. */
export function noteDenial(room: ApiRoom, request: FastifyRequest, error: unknown): void {
  if (!SaltError.is(error) || !isDenied(error.data.denied)) return
  tellMaster(room, request, { reason: messageOf(error), ...error.data.denied })
}

const isDenied = (denied: unknown): denied is Denied => typeof denied === 'object' && denied !== null

/** Its answer does not wait for that: a guess is judged by how long it takes, and nobody else is to be held up. */
export function tellMaster(
  { refusals }: ApiRoom,
  { method, routeOptions, ip }: FastifyRequest,
  { act = 'request', user = '', reason = '', ...denied }: Denied,
): void {
  const request = routeOptions.url === undefined ? method : `${method} ${routeOptions.url}`
  const texts = { user: short(user), reason: short(reason) }
  void refusals.note({ act, request, ...denied, ...texts, via: { address: plainAddress(ip) } })
}

/** A command that came without a proof of who wants it, or for a client that is not there. */
export function deniedOf({ client, fun, username }: Chunk): Denied {
  const [act] = (['runner', 'wheel'] as const).filter((kind) => String(client).startsWith(kind))
  return {
    act: act ?? 'publish',
    user: typeof username === 'string' ? username : '',
    ...(fun !== undefined && { fun: short(String(fun)) }),
  }
}

const short = (text: string): string => text.slice(0, 256)
