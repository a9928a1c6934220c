/** Option `salt_exit_codes: legacy`: programs end as Salt's do, where these say more. */
import { join } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { readConfigFiles } from '../config/config-files.ts'
import { configDirectory } from '../config/location.ts'
import { exitCodes } from './exit-codes.ts'

/** What a program was to end with, and the error that was told, if one was. */
export interface End {
  readonly code: number
  readonly error?: unknown
}

type Translation = (end: End) => number

/** Salt shows what its master answers, and that there is none, as if it were a return. */
const salt: Translation = ({ code, error }) => {
  if (SaltError.is(error)) {
    if (error.code === 'CALL_REFUSED') return exitCodes.failed // it would have been sent, and failed
    if (error.code === 'TARGET_INVALID') return exitCodes.nothing
    if (error.data.incomplete === true) return 42
  }
  if (code === exitCodes.unavailable || code === exitCodes.noPermission) return exitCodes.ok
  return general({ code })
}

const UNKNOWN_TO_SALT: ReadonlySet<number> = new Set([
  exitCodes.unavailable,
  exitCodes.noOutput,
  exitCodes.noPermission,
  exitCodes.configuration,
])

const general: Translation = ({ code }) => (UNKNOWN_TO_SALT.has(code) ? exitCodes.failed : code)

const saltRun: Translation = ({ code, error }) => {
  if (SaltError.is(error) && error.code === 'CALL_REFUSED') return exitCodes.failed
  return code === exitCodes.noPermission ? exitCodes.ok : general({ code })
}

const translations: Readonly<Record<string, Translation>> = {
  salt,
  'salt-key': (end) => (end.code === exitCodes.nothing ? exitCodes.ok : general(end)),
  'salt-run': saltRun,
}

/** The exit code that a program has with this configuration. */
export function configuredExitCode(program: string, configDir: string | undefined, end: End): number {
  return isLegacy(program, configDir) ? (translations[program] ?? general)(end) : end.code
}

/** A configuration that cannot be read says nothing. */
function isLegacy(program: string, configDir: string | undefined): boolean {
  const role = program === 'salt-call' || program === 'salt-minion' ? 'minion' : 'master'
  try {
    const { values } = readConfigFiles(join(configDirectory(configDir), role), `${role}.d/*.conf`)
    return String(values.salt_exit_codes).toLowerCase() === 'legacy'
  } catch {
    return false
  }
}
