import type { Log } from '../author/context.ts'
import type { GrainsSource } from '../author/kinds.ts'
import { messageOf } from '../base/errors.ts'
import { fnmatch } from '../base/fnmatch.ts'
import { inTime } from '../base/in-time.ts'
import { refuseUnencodable } from '../codec/index.ts'
import { kindOf } from './kind-of.ts'
import { LOAD_MS } from './loader.ts'
import { openGuardedLoader } from './probe.ts'

type Grains = Record<string, unknown>

/**
 * Collect all grains in Salt's order: `core` first, then the other sources by name, then those of the configuration;
 * a later value wins, or is merged with `grains_deep_merge`. A source that fails, does not collect within `timeoutMs`, or
 * would hold up this process while it is loaded, is logged and skipped, and so is what `grains_blacklist` names.
 */
export async function collectGrains(
  config: Readonly<Record<string, unknown>>,
  log: Log,
  { timeoutMs = LOAD_MS }: { readonly timeoutMs?: number } = {},
): Promise<Grains> {
  const loader = await openGuardedLoader('grains', { config, log, timeoutMs })
  const names = await loader.pluginNames()
  const ordered = [
    ...names.filter((name) => name === 'core'),
    ...names.filter((name) => name !== 'core').sort(),
  ]
  const add = config.grains_deep_merge === true ? merge : Object.assign
  let grains: Grains = {}
  for (const name of ordered) {
    try {
      const source = await loader.plugin<GrainsSource>(name)
      const collecting = Promise.resolve(source.collect({ opts: config, grains, log }))
      const collected = await inTime(collecting, timeoutMs, () => tooSlow(timeoutMs))
      grains = add({ ...grains }, sendable(collected, name, log))
    } catch (error) {
      log.error(`The grains source ${name} failed and was skipped: ${messageOf(error)}`)
    }
  }
  return without(add(grains, config.grains as Grains), config.grains_blacklist)
}

const tooSlow = (ms: number) => new Error(`it gave no grains within ${ms / 1000} s`)

/** The grains a master can be told. Throws, with a sentence, for what is no map. */
function sendable(collected: unknown, source: string, log: Log): Grains {
  if (collected === undefined || collected === null) return {}
  if (typeof collected !== 'object' || Array.isArray(collected))
    throw new Error(`its collect() gives ${kindOf(collected)}; it is to give a map of grains by name.`)
  const kept = Object.entries(collected).filter(([name, value]) => {
    try {
      refuseUnencodable(value, name)
      return true
    } catch (error) {
      log.error(`A grain of the grains source ${source} was left out: ${messageOf(error)}`)
      return false
    }
  })
  return Object.fromEntries(kept)
}

const isMap = (value: unknown): value is Grains =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Maps are merged, lists joined, everything else replaced. */
function merge(into: Grains, more: Grains): Grains {
  for (const [name, value] of Object.entries(more)) {
    const old = Object.hasOwn(into, name) ? into[name] : undefined
    if (isMap(old) && isMap(value)) into[name] = merge({ ...old }, value)
    else into[name] = Array.isArray(old) && Array.isArray(value) ? [...new Set([...old, ...value])] : value
  }
  return into
}

function without(grains: Grains, patterns: unknown): Grains {
  const blocked = Array.isArray(patterns) ? patterns.map(String) : []
  if (!blocked.length) return grains
  const kept = Object.entries(grains).filter(([name]) => !blocked.some((pattern) => fnmatch(name, pattern)))
  return Object.fromEntries(kept)
}
