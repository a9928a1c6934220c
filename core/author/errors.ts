import { SaltError } from '../base/errors.ts'

/** A command or an operation failed: the job's return is `ERROR: <message>` (Salt's CommandExecutionError). */
export class CommandExecutionError extends SaltError {
  constructor(message: string, data: Readonly<Record<string, unknown>> = {}) {
    super('COMMAND_EXECUTION', message, data)
  }
}

/** A program that is needed is missing: `Command required for '<fun>' not found: <message>`. */
export class CommandNotFoundError extends SaltError {
  constructor(message: string, data: Readonly<Record<string, unknown>> = {}) {
    super('COMMAND_NOT_FOUND', message, data)
  }
}

/** The function was called in a way it does not accept: `ERROR executing '<fun>': <message>`. */
export class SaltInvocationError extends SaltError {
  constructor(message: string, data: Readonly<Record<string, unknown>> = {}) {
    super('INVOCATION', message, data)
  }
}
