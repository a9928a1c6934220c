import { isUtf8 } from 'node:buffer'
import type { Log } from '../../author/context.ts'
import type { Params } from '../../author/params.ts'
import { MASK } from '../../base/secret.ts'
import { component } from '../../log/component.ts'

/** In characters. Shorter texts are not masked, since they occur everywhere. */
const MIN_LENGTH = 4
/** In characters. Of a secret of several lines each line of this length is masked, too, as a line of a private key. */
const MIN_LINE_LENGTH = 12
/** Levels of nesting in the facts of a log line; deeper values are replaced by the mask if there are secrets. */
const MAX_DEPTH = 8

const secretsOf = new WeakMap<Log, Set<string>>()

/** Wrap a log to mask the texts registered by {@link hideSecrets}, in messages and facts. Without any it adds no work. */
export function maskingLog(log: Log): Log {
  return maskedBy(new Set(), log)
}

/** Wrap a log with a set of secrets, which the logs of its components share. */
function maskedBy(secrets: Set<string>, log: Log): Log {
  const at =
    (level: keyof Log): Log['info'] =>
    (message, facts) =>
      log[level](masked(message, secrets), masked(facts, secrets))
  const masking = {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (name: string) => maskedBy(secrets, component(log, name)),
  }
  secretsOf.set(masking, secrets)
  return masking
}

/** Register the values of `p.secret` parameters, and texts inside such values, to be masked by a {@link maskingLog}. */
export function hideSecrets(log: Log, args: Readonly<Record<string, unknown>>, params: Params): void {
  const secrets = secretsOf.get(log)
  if (!secrets) return
  for (const [name, { secret }] of Object.entries(params)) if (secret) collect(args[name], secrets, MAX_DEPTH)
}

/** Return a value with the secrets of a log masked. */
export function withoutSecrets<T>(log: Log, value: T): T {
  const secrets = secretsOf.get(log)
  return secrets ? masked(value, secrets) : value
}

function collect(value: unknown, secrets: Set<string>, depth: number): void {
  for (const text of textsOf(value)) {
    if (text.length < MIN_LENGTH) continue
    secrets.add(text).add(JSON.stringify(text).slice(1, -1))
    const lines = text.includes('\n') ? text.split('\n') : []
    for (const line of lines) if (line.length >= MIN_LINE_LENGTH) secrets.add(line)
  }
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array || depth === 0) return
  for (const inner of Object.values(value)) collect(inner, secrets, depth - 1)
}

/** The texts by which a secret is recognised. */
function textsOf(value: unknown): string[] {
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value)
    return [...(isUtf8(bytes) ? [bytes.toString()] : []), bytes.toString('base64'), bytes.toString('hex')]
  }
  return ['string', 'number', 'bigint'].includes(typeof value) ? [String(value)] : []
}

/** Mask secrets in a value, longer ones first, since one may be a part of another. */
function masked<T>(value: T, secrets: ReadonlySet<string>): T {
  if (secrets.size === 0) return value
  const longestFirst = [...secrets].sort((a, b) => b.length - a.length)
  return maskedValue(value, longestFirst, MAX_DEPTH) as T
}

function maskedValue(value: unknown, secrets: readonly string[], depth: number): unknown {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, MASK), value)
  if (typeof value === 'number' || typeof value === 'bigint')
    return secrets.includes(String(value)) ? MASK : value
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if (depth === 0) return MASK
  const inside = (inner: unknown) => maskedValue(inner, secrets, depth - 1)
  if (value instanceof Error) return maskedError(value, inside)
  if (Array.isArray(value) || value instanceof Set) return [...value].map(inside)
  const entries = value instanceof Map ? [...value] : Object.entries(value)
  return Object.fromEntries(entries.map(([name, inner]) => [String(name), inside(inner)]))
}

function maskedError(error: Error, inside: (inner: unknown) => unknown): Error {
  const shown = new Error(String(inside(error.message)))
  return Object.assign(shown, inside({ ...error }), { stack: inside(error.stack) })
}
