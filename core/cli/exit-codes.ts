/** Exit codes of the programs, from sysexits.h where it has a fitting one. docs/commands.md shows this table. */
import type { ErrorCode } from '../base/error-codes.ts'
import { SaltError } from '../base/errors.ts'

interface ExitCode {
  readonly code: number
  readonly meaning: string
  /** Why this number. */
  readonly why: string
}

export const exitTable = {
  ok: {
    code: 0,
    meaning:
      'Success: every expected minion returned and succeeded, or gets the job when it connects (--deliver-within).',
    why: 'convention',
  },
  failed: {
    code: 1,
    meaning: 'A function failed on a minion, or the program itself failed.',
    why: "Salt's code for a non-zero return",
  },
  nothing: {
    code: 2,
    meaning: 'Nothing matched: no minion or no key, or no minion that certainly matches returned.',
    why: "Salt's code for a target without minions",
  },
  otherMaster: {
    code: 42,
    meaning: 'The key of the master is not the one that `master_finger` or a fingerprint names.',
    why: "Salt's code for it",
  },
  usage: {
    code: 64,
    meaning: 'The command line is wrong, or no minion would accept the call.',
    why: "EX_USAGE, Salt's code as well",
  },
  unavailable: {
    code: 69,
    meaning: 'The master cannot be reached.',
    why: 'EX_UNAVAILABLE: a required service is not available',
  },
  noOutput: {
    code: 73,
    meaning: 'The output cannot be written: `--out-file`, or standard output.',
    why: 'EX_CANTCREAT: an output file cannot be created',
  },
  missing: {
    code: 75,
    meaning: 'Some minions did not return; those that did succeeded.',
    why: 'EX_TEMPFAIL: temporary failure, try again',
  },
  noPermission: {
    code: 77,
    meaning: 'This user, or this minion, may not do that.',
    why: 'EX_NOPERM',
  },
  configuration: {
    code: 78,
    meaning: 'The configuration cannot be used.',
    why: 'EX_CONFIG: a service manager should not restart it',
  },
  interrupted: {
    code: 130,
    meaning: 'Ctrl-C.',
    why: '128 + SIGINT, as in shells',
  },
  brokenPipe: {
    code: 141,
    meaning: 'The reader of the output has closed the pipe.',
    why: '128 + SIGPIPE, as in shells',
  },
  noFunction: {
    code: 255,
    meaning: 'salt-call: there is no such function.',
    why: "Salt's code for it",
  },
} as const satisfies Record<string, ExitCode>

type Codes = { readonly [name in keyof typeof exitTable]: (typeof exitTable)[name]['code'] }

export const exitCodes = Object.fromEntries(
  Object.entries(exitTable).map(([name, { code }]) => [name, code]),
) as Codes

const BY_ERROR: ReadonlyMap<ErrorCode, number> = new Map([
  ['TARGET_INVALID', exitCodes.usage],
  ['CALL_REFUSED', exitCodes.usage],
  ['NO_MINIONS_MATCHED', exitCodes.nothing],
  ['MASTER_UNREACHABLE', exitCodes.unavailable],
  ['TIMEOUT', exitCodes.unavailable],
  ['OUTPUT_FAILED', exitCodes.noOutput],
  ['AUTHENTICATION_FAILED', exitCodes.noPermission],
  ['AUTHORIZATION_FAILED', exitCodes.noPermission],
  ['KEY_REJECTED', exitCodes.noPermission],
  ['LOCKED_OUT', exitCodes.noPermission],
  ['PERMISSIONS', exitCodes.noPermission],
  ['FINGERPRINT_WRONG', exitCodes.otherMaster],
  ['CONFIG_INVALID', exitCodes.configuration],
  ['ID_INVALID', exitCodes.configuration],
])

export function exitCodeOf(error: unknown): number {
  if (UsageError.is(error)) return exitCodes.usage
  return SaltError.is(error) ? exitCodeFor(error.code) : exitCodes.failed
}

/** Return the exit code for an error code. */
export const exitCodeFor = (code: ErrorCode): number => BY_ERROR.get(code) ?? exitCodes.failed

/** Turn a return code into one of the 256 exit codes: never 0 for another return code than 0. */
export function exitCodeOfRetcode(retcode: number): number {
  const code = Math.trunc(retcode) & 0xff
  return code === 0 && retcode !== 0 ? exitCodes.failed : code
}

/** The command line is wrong; the message says why. */
export class UsageError extends SaltError {
  /** `incomplete`: words are missing, but nothing else is wrong. */
  constructor(message: string, { incomplete = false } = {}) {
    super('INVALID_ARGUMENTS', message, { incomplete })
  }

  /** Also true for the errors of oclif's parser, which have exit code 2. That of an option without its value has no `parse`. */
  static override is(error: unknown): error is UsageError {
    if (error instanceof UsageError) return true
    return error instanceof Error && 'oclif' in error && ('parse' in error || LACKS_VALUE.test(error.message))
  }
}

/** What oclif's parser says of an option without its value. */
export const LACKS_VALUE = /^Flag (--\S+) expects (a value|one of these values: .*)$/
