/** Writes options that a wheel function sets to a file of their own beside the master's configuration. */

import { existsSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { SaltError } from '../../base/errors.ts'
import { writeFileAtomic } from '../../base/files/atomic-file.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { isRecord } from '../../base/record.ts'
import { loadMasterConfig, type MasterConfig } from '../../config/index.ts'
import { parseYaml } from '../../config/yaml.ts'
import { yamlLibrary } from '../../config/yaml-library.ts'

type Options = Readonly<Record<string, unknown>>

/**
 * Write `<name>.conf` in the folder of `default_include`. With `keep` its other options stay. Options that the master could
 * not start with are refused, and the file is restored.
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
      `${shown} cannot be the name of a file of options: it may have letters, digits, _ . -`,
    )
  }
  if (!existsSync(config.conf_file)) {
    const nothing = `There is no ${config.conf_file}, and without it no file beside it is read. Create it; it may be empty.`
    throw new SaltError('CONFIG_INVALID', nothing, { path: config.conf_file })
  }
  const path = join(config.config_dir, dirname(config.default_include), `${name}.conf`)
  const before = await readFile(path, 'utf8').catch(() => undefined)
  const old = keep && before !== undefined ? parseYaml(before) : {}
  const { stringify } = yamlLibrary()
  const text = stringify({ ...(isRecord(old) && old), ...options }, { version: '1.1' })
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 })
    await writeFileAtomic(path, text, { mode: 0o600 })
  } catch (error) {
    throw new SaltError('PERMISSIONS', `${path} cannot be written: ${fileProblem(error)}`, { path })
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
