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

  static is(value: unknown): value is SaltError {
    return typeof value === 'object' && value !== null && brand in value
  }
}

/** The text of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
