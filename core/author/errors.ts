import type { ErrorCode } from '../base/error-codes.ts'
import { SaltError } from '../base/errors.ts'

/** What is known about a failure; `cause` is the error behind it, as with every Error, and is shown with it. */
type Facts = Readonly<Record<string, unknown>>

/** An error somebody foresaw: its message is shown without a stack. */
class ForeseenError extends SaltError {
  constructor(code: ErrorCode, message: string, { cause, ...data }: Facts) {
    super(code, message, data, cause === undefined ? {} : { cause })
  }
}

/** A command or an operation failed: the job's return is `ERROR: <message>` (Salt's CommandExecutionError). */
export class CommandExecutionError extends ForeseenError {
  constructor(message: string, facts: Facts = {}) {
    super('COMMAND_EXECUTION', message, facts)
  }
}

/** A program that is needed is missing: `Command required for '<fun>' not found: <message>`. */
export class CommandNotFoundError extends ForeseenError {
  constructor(message: string, facts: Facts = {}) {
    super('COMMAND_NOT_FOUND', message, facts)
  }
}

/** The function was called in a way it does not accept: `ERROR executing '<fun>': <message>`. */
export class SaltInvocationError extends ForeseenError {
  constructor(message: string, facts: Facts = {}) {
    super('INVOCATION', message, facts)
  }
}
