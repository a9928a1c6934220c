/** Options of the master that a wheel function sets, in a file of their own beside the configuration. */

import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { loadMasterConfig, type MasterConfig } from '../config/index.ts'
import { parseYaml } from '../config/yaml.ts'
import { isRecord } from '../wire/bytes.ts'

type Options = Readonly<Record<string, unknown>>

/**
 * Write `<name>.conf` in the folder of `default_include`. With `keep` its other options stay. What the master could not
 * start with is refused, and the file is then as it was.
 *
 * @throws SaltError INVALID_ARGUMENTS, CONFIG_INVALID, PERMISSIONS
 */
export async function writeConfig(
  config: MasterConfig,
  name: string,
  options: Options,
  { keep = false }: { readonly keep?: boolean } = {},
): Promise<string> {
  if (!/^[A-Za-z0-9_][\w.-]{0,100}$/.test(name)) {
    const shown = JSON.stringify(name)
    throw new SaltError(
      'INVALID_ARGUMENTS',
      `${shown} cannot be the name of a file of options: letters, digits, _ . -`,
    )
  }
  if (!existsSync(config.conf_file)) {
    const nothing = `There is no ${config.conf_file}, and without it no file beside it is read; an empty one will do.`
    throw new SaltError('CONFIG_INVALID', nothing, { path: config.conf_file })
  }
  const path = join(config.config_dir, dirname(config.default_include), `${name}.conf`)
  const before = await readFile(path, 'utf8').catch(() => undefined)
  const old = keep && before !== undefined ? parseYaml(before) : {}
  const { stringify } = createRequire(import.meta.url)('yaml') as typeof import('yaml')
  const text = stringify({ ...(isRecord(old) && old), ...options }, { version: '1.1' })
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await writeFileAtomic(path, text, { mode: 0o600 })
  } catch (error) {
    throw new SaltError('PERMISSIONS', `${path} cannot be written: ${messageOf(error)}`, { path })
  }
  try {
    loadMasterConfig({ configDir: config.config_dir })
  } catch (error) {
    if (before === undefined) await rm(path, { force: true })
    else await writeFileAtomic(path, before, { mode: 0o600 })
    throw error
  }
  return path
}
