import { resolve } from 'node:path'

/** Where a configuration was read from. */
export interface ConfigLocation {
  readonly config_dir: string
  readonly conf_file: string
}

export interface LoadSettings<T> {
  /** Default: the environment's SALT_CONFIG_DIR, else /etc/salt. */
  readonly configDir?: string
  /** Options of the command line; they win. */
  readonly overrides?: Partial<T>
}

export function configDirectory(given: string | undefined): string {
  return resolve(given || process.env.SALT_CONFIG_DIR || '/etc/salt')
}
