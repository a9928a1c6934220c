import type { ErrorCode } from '../base/error-codes.ts'
import { SaltError } from '../base/errors.ts'

/** Facts about a failure. `cause` is the error that caused it, as for every Error, and is shown with it. */
type ErrorData = Readonly<Record<string, unknown>>

/** An expected error: its message is shown without a stack trace. */
class ForeseenError extends SaltError {
  constructor(code: ErrorCode, message: string, { cause, ...data }: ErrorData) {
    super(code, message, data, cause === undefined ? {} : { cause })
  }
}

/** A command or an operation failed: the job's return is `ERROR: <message>` (Salt's CommandExecutionError). */
export class CommandExecutionError extends ForeseenError {
  constructor(message: string, facts: ErrorData = {}) {
    super('COMMAND_EXECUTION', message, facts)
  }
}

/** A required program is missing: `Command required for '<fun>' not found: <message>`. */
export class CommandNotFoundError extends ForeseenError {
  constructor(message: string, facts: ErrorData = {}) {
    super('COMMAND_NOT_FOUND', message, facts)
  }
}

/** The function does not accept its arguments: `ERROR executing '<fun>': <message>`. */
export class SaltInvocationError extends ForeseenError {
  constructor(message: string, facts: ErrorData = {}) {
    super('INVOCATION', message, facts)
  }
}
