/** Exit codes of the programs (sysexits where Salt uses them). */
import { SaltError } from '../base/errors.ts'

export const exitCodes = {
  ok: 0,
  /** A minion failed or did not return, or the program itself failed. */
  failed: 1,
  /** Nothing came of it: no minion matched or returned, no master, not allowed. */
  nothing: 2,
  /** The command line makes no sense. */
  usage: 64,
  /** Ctrl-C. */
  interrupted: 130,
  /** Nobody reads the output any more (SIGPIPE). */
  brokenPipe: 141,
  /** `salt-call`: there is no such function. */
  noFunction: 255,
} as const

const MISTYPED = new Set(['TARGET_INVALID', 'CALL_REFUSED'])

const NOTHING = new Set([
  'NO_MINIONS_MATCHED',
  'MASTER_UNREACHABLE',
  'AUTHENTICATION_FAILED',
  'AUTHORIZATION_FAILED',
  'TIMEOUT',
])

export function exitCodeOf(error: unknown): number {
  if (UsageError.is(error)) return exitCodes.usage
  if (SaltError.is(error) && MISTYPED.has(error.code)) return exitCodes.usage
  if (SaltError.is(error) && NOTHING.has(error.code)) return exitCodes.nothing
  return exitCodes.failed
}

/** What was typed makes no sense; the message says why. */
export class UsageError extends SaltError {
  constructor(message: string) {
    super('INVALID_ARGUMENTS', message)
  }

  /** True also for the errors of oclif's parser, which have exit code 2. */
  static override is(error: unknown): error is UsageError {
    if (error instanceof UsageError) return true
    return typeof error === 'object' && error !== null && 'oclif' in error && 'parse' in error
  }
}
