/** Exit codes of Salt's programs, for the option `salt_exit_codes: legacy`. */
import { join } from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { readConfigFiles } from '../../config/config-files.ts'
import { configDirectory } from '../../config/location.ts'
import { exitCodes } from '../exit-codes.ts'

/** The exit code of a program, and the error that was reported, if any. */
export interface ProgramEnd {
  readonly code: number
  readonly error?: unknown
}

type Translation = (end: ProgramEnd) => number

/** Salt prints errors of the master, and that there is none, as if they were returns. */
const salt: Translation = ({ code, error }) => {
  if (SaltError.is(error)) {
    if (error.code === 'CALL_REFUSED') return exitCodes.failed // Salt sends the job, and it fails
    if (error.code === 'TARGET_INVALID') return exitCodes.nothing
    if (error.data.incomplete === true) return 42
  }
  if (code === exitCodes.unavailable || code === exitCodes.noPermission) return exitCodes.ok
  return general({ code })
}

const OWN_CODES: ReadonlySet<number> = new Set([
  exitCodes.unavailable,
  exitCodes.noOutput,
  exitCodes.noPermission,
  exitCodes.configuration,
])

const general: Translation = ({ code }) => (OWN_CODES.has(code) ? exitCodes.failed : code)

const saltRun: Translation = ({ code, error }) => {
  if (SaltError.is(error) && error.code === 'CALL_REFUSED') return exitCodes.failed
  return code === exitCodes.noPermission ? exitCodes.ok : general({ code })
}

const translations: Readonly<Record<string, Translation>> = {
  salt,
  'salt-key': (end) => (end.code === exitCodes.nothing ? exitCodes.ok : general(end)),
  'salt-run': saltRun,
}

/** Return the exit code that a program has with this configuration. */
export function configuredExitCode(program: string, configDir: string | undefined, end: ProgramEnd): number {
  return isLegacy(program, configDir) ? (translations[program] ?? general)(end) : end.code
}

/** Whether the configuration asks for Salt's exit codes. An unreadable configuration does not. */
function isLegacy(program: string, configDir: string | undefined): boolean {
  const role = program === 'salt-call' || program === 'salt-minion' ? 'minion' : 'master'
  try {
    const { values } = readConfigFiles(join(configDirectory(configDir), role), `${role}.d/*.conf`)
    return String(values.salt_exit_codes).toLowerCase() === 'legacy'
  } catch {
    return false
  }
}
