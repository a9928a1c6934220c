/** Commands to a Redis server. */
import type { Redis } from 'ioredis'
import { CommandExecutionError, type Context, p } from 'salt-ts'
import { library } from './library.ts'
import { setting, textSetting } from './settings.ts'

const CONNECT_MS = 10_000

export const serverParams = {
  host: p.optional(p.string()),
  port: p.optional(p.integer({ minimum: 1, maximum: 65_535 })),
}
export const passwordParam = { password: p.secret(p.optional(p.string())) }

/** Where a function connects to, unless the settings `redis.host`, … say it. */
export const connection = { ...serverParams, db: p.optional(p.integer({ minimum: 0 })), ...passwordParam }

export interface Place {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly db?: number | undefined
  readonly password?: string | undefined
}

/** A reply: integers are numbers if these are exact, texts are strings or else bytes. */
export type Reply = string | number | bigint | Uint8Array | null | Reply[]

/** Send a command, with its words, and resolve with its reply. */
export type Ask = (command: string, ...words: readonly (string | number)[]) => Promise<Reply>

/** Run `work` on a connection of its own. @throws CommandExecutionError that names the server */
export async function withRedis<T>(
  given: Place,
  context: Context,
  work: (ask: Ask) => Promise<T>,
  prefix = 'redis',
): Promise<T> {
  const { Redis } = library<typeof import('ioredis')>('redis', 'ioredis')
  const place = await placeOf(given, context, prefix)
  const redis = new Redis({
    host: place.host,
    port: place.port,
    db: place.db,
    ...(place.password && { password: place.password }),
    connectTimeout: CONNECT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    disableClientInfo: true,
    lazyConnect: true,
    stringNumbers: true,
  })
  let lost: Error | undefined
  redis.on('error', (error: Error) => {
    lost ??= error
  })
  const stop = () => redis.disconnect()
  context.signal.addEventListener('abort', stop)
  try {
    context.signal.throwIfAborted()
    await redis.connect()
    return await work((command, ...words) => ask(redis, command, words))
  } catch (error) {
    throw asCommandError(error, `Redis at ${place.host}:${place.port}`, lost)
  } finally {
    context.signal.removeEventListener('abort', stop)
    redis.disconnect()
  }
}

async function placeOf(given: Place, context: Context, prefix: string) {
  const isSentinel = prefix === 'redis_sentinel'
  const host = given.host || (await textSetting(`${prefix}.host`, context)) || 'localhost'
  const port =
    given.port ?? Number((await setting(`${prefix}.port`, context)) ?? (isSentinel ? 26_379 : 6379))
  const db = isSentinel ? 0 : given.db || Number((await setting(`${prefix}.db`, context)) ?? 0)
  const password = given.password || (await textSetting(`${prefix}.password`, context))
  if (Number.isInteger(port) && Number.isInteger(db)) return { host, port, db, password }
  throw new CommandExecutionError(`The settings ${prefix}.port and ${prefix}.db must be whole numbers.`)
}

async function ask(redis: Redis, command: string, words: readonly (string | number)[]): Promise<Reply> {
  return replyOf(await redis.callBuffer(command, ...words))
}

/** With `stringNumbers` integers come as strings, and texts as bytes. */
function replyOf(value: unknown): Reply {
  if (Array.isArray(value)) return value.map(replyOf)
  if (value instanceof Uint8Array) return textOf(value)
  if (typeof value !== 'string') return value as Reply
  return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt(value)
}

function textOf(bytes: Uint8Array): string | Uint8Array {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return bytes
  }
}

function asCommandError(error: unknown, where: string, lost: Error | undefined): unknown {
  if (error instanceof CommandExecutionError || error instanceof TypeError) return error
  const reason = (error as Error).name === 'ReplyError' ? (error as Error) : (lost ?? (error as Error))
  return new CommandExecutionError(`${where}: ${sentenceOf(reason)}`)
}

function sentenceOf(error: Error & { code?: string; errors?: readonly Error[] }): string {
  return error.message || error.errors?.map(({ message }) => message).join(', ') || String(error.code)
}

/** Turn a list of names and values into a map. */
export function pairs(reply: Reply): Record<string, Reply> {
  const list = Array.isArray(reply) ? reply : []
  const names = list.filter((_, index) => index % 2 === 0)
  return Object.fromEntries(names.map((name, index) => [keyText(name), list[index * 2 + 1] ?? null]))
}

const keyText = (name: Reply): string =>
  name instanceof Uint8Array ? Buffer.from(name).toString() : String(name)
