import { resolve } from 'node:path'
import type { MinionId } from '../base/minion-id.ts'
import { deepFreeze, loadOptions } from './load.ts'
import { type ConfigLocation, checkSettings, configDirectory, type LoadSettings } from './location.ts'
import { resolveMinionId } from './minion-id.ts'
import { type MinionOptions, minionOptions } from './minion-options.ts'
import { compilePaths } from './paths.ts'

/** The configuration of a minion: complete, checked, frozen, with absolute paths and a valid id. */
export type MinionConfig = Readonly<Omit<MinionOptions, 'id'> & { id: MinionId } & ConfigLocation>

/**
 * Load the configuration of a minion. A derived id is stored in the file `minion_id` beside it.
 *
 * @throws SaltError CONFIG_INVALID (with `data` file, key, reason), PERMISSIONS, ID_INVALID
 */
export function loadMinionConfig(settings: LoadSettings<MinionOptions> = {}): {
  config: MinionConfig
  warnings: string[]
  misspelt: string[]
  read: readonly string[]
} {
  checkSettings('loadMinionConfig', settings)
  const config_dir = configDirectory(settings.configDir)
  const conf_file = resolve(config_dir, 'minion')
  const { options, warnings, misspelt, read } = loadOptions({
    table: minionOptions,
    confFile: conf_file,
    overrides: settings.overrides,
  })
  const { id, warnings: idWarnings } = resolveMinionId(options, config_dir)
  const config = { ...compilePaths(options, minionOptions), id, config_dir, conf_file }
  return {
    config: deepFreeze(config),
    warnings: [...warnings, ...ignored(options), ...idWarnings],
    misspelt,
    read,
  }
}

function ignored({ startup_states }: MinionOptions): string[] {
  return [
    ...(startup_states === '' ? [] : ['The option startup_states is ignored: salt-ts has no states yet.']),
  ]
}
