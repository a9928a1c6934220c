/** Static grains from the file `grains` beside the minion's configuration. */
import { dirname, join } from 'node:path'
import { type Context, grains } from 'salt-ts'
import { Host } from './_facts/host.ts'

export default grains({
  async collect({ opts, log }) {
    const path = grainsPath(opts)
    const text = path && (await new Host().text(path))
    if (!text) return {}
    try {
      const { parse } = await import('yaml') // takes 25 ms to load, and few minions have such a file
      const found: unknown = parse(text, { version: '1.1', customTags: withoutDates })
      if (typeof found === 'object' && found !== null && !Array.isArray(found))
        return found as Record<string, unknown>
      if (found !== null) log.warn(`${path} is not a map of grains! Skipping.`)
    } catch (cause) {
      log.warn(
        `Bad syntax in grains file ${path}! Skipping. ${cause instanceof Error ? cause.message : cause}`,
      )
    }
    return {}
  },
})

function grainsPath({ config_dir, conf_file }: Context['opts']): string | undefined {
  if (typeof config_dir === 'string') return join(config_dir, 'grains')
  return typeof conf_file === 'string' ? join(dirname(conf_file), 'grains') : undefined
}

// Dates stay text.
type Tags = import('yaml').Tags
const withoutDates = (tags: Tags): Tags =>
  tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:timestamp')
