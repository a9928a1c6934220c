import { inspect } from 'node:util'
import type { ErrorCode } from './error-codes.ts'

const brand = Symbol.for('salt-ts.SaltError')

/**
 * Every error a user can meet. `code` is stable and can be tested for, `message` is a sentence that says
 * what is wrong, where, and what to do; `data` carries the facts as plain values.
 * Branded with `Symbol.for`, so it is recognised across two copies of the package.
 */
export class SaltError extends Error {
  readonly code: ErrorCode
  readonly data: Readonly<Record<string, unknown>>

  constructor(
    code: ErrorCode,
    message: string,
    data: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = new.target.name
    this.code = code
    this.data = data
    Object.defineProperty(this, brand, { value: true })
  }

  /** Whether the value is a SaltError. Never throws: false for a value that throws when it is read, such as a proxy. */
  static is(value: unknown): value is SaltError {
    return orElse(false, () => {
      if (typeof value !== 'object' || value === null || !(brand in value)) return false
      const { code, message } = value as Partial<SaltError>
      return typeof code === 'string' && typeof message === 'string'
    })
  }
}

/** Return the text of any thrown value. None of the functions below throws, whatever the value is. */
export const messageOf = (thrown: unknown): string =>
  orElse(UNSHOWABLE, () => textOf(thrown instanceof Error ? thrown.message : thrown))

const textOf = (value: unknown): string => (hasNoText(value) ? jsonOf(value) : String(value))

/** Whether `String` would return `[object Object]` for the value, or throw. */
const hasNoText = (thrown: unknown): boolean =>
  typeof thrown === 'object' &&
  thrown !== null &&
  (!('toString' in thrown) || thrown.toString === Object.prototype.toString)

/** Maximum length of the text of a thrown value that is not an Error, in characters. */
const MAX_VALUE_LENGTH = 1000

function jsonOf(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? inspect(value)
  } catch {
    text = inspect(value) // it is circular, or holds a BigInt
  }
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text
}

/** Causes that are shown with an error, at most. */
const MAX_CAUSES = 8

/** Return the text of any thrown value with its stack trace, and those of its causes (`cause`, `AggregateError`). */
export function traceOf(thrown: unknown): string {
  return withCauses(thrown, (error) => orElse('', () => stackOf(error)) || messageOf(error))
}

const stackOf = (error: unknown): string =>
  error instanceof Error && typeof error.stack === 'string' ? error.stack : ''

/** Return the text of any thrown value, with those of its causes. */
export function messageWithCauses(thrown: unknown): string {
  return withCauses(thrown, messageOf)
}

function withCauses(thrown: unknown, shown: (error: unknown) => string): string {
  const all = new Set([thrown])
  for (const error of all) for (const cause of causesOf(error)) if (all.size <= MAX_CAUSES) all.add(cause)
  const [message = '', ...causes] = Array.from(all, shown)
  return [
    message,
    ...causes.filter((text) => !message.includes(text)).map((text) => `Caused by: ${text}`),
  ].join('\n')
}

function causesOf(error: unknown): readonly unknown[] {
  return orElse([], () => {
    if (!(error instanceof Error)) return []
    const several = error instanceof AggregateError ? error.errors : []
    return error.cause === undefined ? several : [error.cause, ...several]
  })
}

const UNSHOWABLE = 'a value that cannot be shown was thrown'

/**
 * Return the result of `read`, or `other` if it throws: a thrown value may be a proxy, or have getters that throw in
 * turn.
 */
function orElse<T>(other: T, read: () => T): T {
  try {
    return read()
  } catch {
    return other
  }
}
