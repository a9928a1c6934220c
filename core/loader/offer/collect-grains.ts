import type { Log } from '../../author/context.ts'
import type { GrainsSource } from '../../author/kinds.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import { refuseUnencodable } from '../../codec/index.ts'
import { fnmatch } from '../../dialect/fnmatch.ts'
import { typeInWords } from '../kind-of.ts'
import { LOAD_MS } from '../loader.ts'
import { openGuardedLoader } from './probe.ts'

type Grains = Record<string, unknown>

/**
 * Collect all grains in Salt's order: `core` first, then the other sources by name, then those of the configuration. A later
 * value wins, or is merged with `grains_deep_merge`. A source that fails, takes longer than `timeoutMs`, or would block this
 * process while it is loaded, is logged and skipped. Grains that match `grains_blacklist` are left out.
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
      const collected = await withTimeout(collecting, timeoutMs, () => tooSlow(timeoutMs))
      grains = add({ ...grains }, sendable(collected, name, log))
    } catch (error) {
      log.error(`The grains source ${name} failed and was skipped: ${messageOf(error)}`)
    }
  }
  return without(add(grains, config.grains as Grains), config.grains_blacklist)
}

const tooSlow = (ms: number) => new Error(`it returned no grains within ${ms / 1000} s`)

/**
 * Return the grains that can be sent to a master, and log the others. Throws an error with a sentence for a value that
 * is not a map.
 */
function sendable(collected: unknown, source: string, log: Log): Grains {
  if (collected === undefined || collected === null) return {}
  if (typeof collected !== 'object' || Array.isArray(collected))
    throw new Error(`its collect() returned ${typeInWords(collected)} instead of a map of grains by name.`)
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

/** Merge grains: maps are merged, lists joined, other values replaced. */
function merge(into: Grains, more: Grains): Grains {
  for (const [name, value] of Object.entries(more)) {
    const old = Object.hasOwn(into, name) ? into[name] : undefined
    if (isRecord(old) && isRecord(value)) into[name] = merge({ ...old }, value)
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
