import type { ErrorCode } from '../../core/base/error-codes.ts'
import { SaltError } from '../../core/base/errors.ts'

/** Input for a part of the product, and what it may do with it. */
export interface Target {
  /** How inputs are changed: as bytes, as text, or as the tree of a JSON text or of a MessagePack message. */
  readonly form: 'bytes' | 'text' | 'json' | 'message'
  /** Number of choices of each leading byte, which selects what is done with the rest of an input. */
  readonly choices?: readonly number[]
  /** Words that mean something to this target. */
  readonly words?: readonly string[]
  readonly seeds: readonly Buffer[]
  /** Inputs that run at the same time; 1 by default. More where a single one mostly waits. */
  readonly atOnce?: number
  /** Milliseconds that an input may take; 1000 by default. */
  readonly patienceMs?: number
  /** Process an input. Returns the kind of the outcome; throws if the outcome is none that is allowed. */
  run(input: Buffer): string | Promise<string>
  /** Check what concerns many inputs, and clear what was recorded. Called now and then. */
  check?(): void | Promise<void>
  close?(): Promise<void>
}

/** Opens a target: the default export of each file in `targets`. */
export type OpenTarget = () => Target | Promise<Target>

/** Throw unless it holds. `what` says what went wrong. */
export function must(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}

/** Return the code of an error that is allowed: one of these codes, with a sentence. Throw any other. */
export function refusal(error: unknown, codes: readonly ErrorCode[]): string {
  if (!SaltError.is(error) || !codes.includes(error.code)) throw error
  must(/\S/.test(error.message), `The error ${error.code} has no sentence.`)
  return error.code
}

/** Return what `act` returns, "fine" if that is nothing, or the code of an allowed error. */
export function outcomeOf(act: () => string | undefined, codes: readonly ErrorCode[]): string {
  try {
    return act() ?? 'fine'
  } catch (error) {
    return refusal(error, codes)
  }
}
