import { resolve } from 'node:path'
import { SaltError } from '../base/errors.ts'
import { type MembersOf, refuseUnknownMembers } from '../base/known-members.ts'

/** The files that a configuration was read from. */
export interface ConfigLocation {
  readonly config_dir: string
  readonly conf_file: string
}

export interface LoadSettings<T> {
  /** Default: the environment's SALT_CONFIG_DIR, else /etc/salt. */
  readonly configDir?: string
  /** Options of the command line, which take precedence. */
  readonly overrides?: Partial<T>
}

const SETTINGS: MembersOf<LoadSettings<unknown>> = { configDir: true, overrides: true }

/** Validate the settings. @throws SaltError INVOCATION if they are not a map, or have unknown members */
export function checkSettings(caller: string, settings: LoadSettings<unknown>): void {
  if (typeof settings === 'string') {
    const example = `${caller}({ configDir: '/etc/salt' }), with the directory of the configuration`
    throw new SaltError('INVOCATION', `${caller} takes a map: ${example}. It got '${settings}'.`)
  }
  refuseUnknownMembers(caller, settings, SETTINGS)
}

export function configDirectory(given: string | undefined): string {
  return resolve(given || process.env.SALT_CONFIG_DIR || '/etc/salt')
}
