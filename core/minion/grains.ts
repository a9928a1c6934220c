import type { Log } from '../author/context.ts'
import type { GrainsSource } from '../author/kinds.ts'
import { messageOf } from '../base/errors.ts'
import { openLoader } from '../loader/index.ts'

type Grains = Record<string, unknown>

/**
 * Collect all grains in Salt's order: `core` first, then the other sources by name, then those of the configuration.
 * A source that fails is logged and skipped.
 */
export async function collectGrains(config: Readonly<Record<string, unknown>>, log: Log): Promise<Grains> {
  const loader = openLoader('grains', { config, log })
  const names = await loader.pluginNames()
  const ordered = [
    ...names.filter((name) => name === 'core'),
    ...names.filter((name) => name !== 'core').sort(),
  ]
  const grains: Grains = {}
  for (const name of ordered) {
    try {
      const source = await loader.plugin<GrainsSource>(name)
      Object.assign(grains, await source.collect({ opts: config, grains, log }))
    } catch (error) {
      log.error(`The grains source ${name} failed and was skipped: ${messageOf(error)}`)
    }
  }
  return Object.assign(grains, config['grains'])
}
