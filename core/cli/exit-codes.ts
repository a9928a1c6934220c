/** Exit codes of the programs; sysexits.h where it has one that says it. The table in README.md is tested against this one. */
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
    meaning: 'Everything that was asked for was done: every expected minion returned and succeeded.',
    why: 'as everywhere',
  },
  failed: {
    code: 1,
    meaning: 'A function failed on a minion, or the program itself failed.',
    why: "Salt's code of a non-zero return",
  },
  nothing: {
    code: 2,
    meaning: 'Nothing matched: no minion, no key; or nobody returned who is known to be meant.',
    why: "Salt's code of a target without minions",
  },
  usage: {
    code: 64,
    meaning: 'The command line makes no sense, or no minion would run the call.',
    why: "EX_USAGE, Salt's code as well",
  },
  unavailable: {
    code: 69,
    meaning: 'The master cannot be reached.',
    why: 'EX_UNAVAILABLE: a service that is needed is not there',
  },
  noOutput: {
    code: 73,
    meaning: 'The output cannot be written: `--out-file`, or standard output.',
    why: 'EX_CANTCREAT: a file that the user named cannot be made',
  },
  missing: {
    code: 75,
    meaning: 'Minions did not return; those that did succeeded.',
    why: 'EX_TEMPFAIL: it may still come, and is worth another try',
  },
  noPermission: {
    code: 77,
    meaning: 'This user, or this minion, may not do that.',
    why: 'EX_NOPERM',
  },
  configuration: {
    code: 78,
    meaning: 'The configuration cannot be used.',
    why: 'EX_CONFIG: a service manager need not start it again',
  },
  interrupted: {
    code: 130,
    meaning: 'Ctrl-C.',
    why: '128 + SIGINT, as shells have it',
  },
  brokenPipe: {
    code: 141,
    meaning: 'Nobody reads the output any more.',
    why: '128 + SIGPIPE, as shells have it',
  },
  noFunction: {
    code: 255,
    meaning: 'salt-call: there is no such function.',
    why: "Salt's code of it",
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
  ['CONFIG_INVALID', exitCodes.configuration],
  ['ID_INVALID', exitCodes.configuration],
])

export function exitCodeOf(error: unknown): number {
  if (UsageError.is(error)) return exitCodes.usage
  return SaltError.is(error) ? exitCodeFor(error.code) : exitCodes.failed
}

/** Of an error that is known by its code only. */
export const exitCodeFor = (code: ErrorCode): number => BY_ERROR.get(code) ?? exitCodes.failed

/** What a return code of a minion becomes as an exit code, of which there are 256: never 0 unless it is. */
export function passedThrough(retcode: number): number {
  const code = Math.trunc(retcode) & 0xff
  return code === 0 && retcode !== 0 ? exitCodes.failed : code
}

/** What was typed makes no sense; the message says why. */
export class UsageError extends SaltError {
  /** `incomplete`: nothing is wrong with what was typed, but there should be more. */
  constructor(message: string, { incomplete = false } = {}) {
    super('INVALID_ARGUMENTS', message, { incomplete })
  }

  /** True also for the errors of oclif's parser, which have exit code 2. */
  static override is(error: unknown): error is UsageError {
    if (error instanceof UsageError) return true
    return typeof error === 'object' && error !== null && 'oclif' in error && 'parse' in error
  }
}
