import type { Log } from '../author/context.ts'
import type { Matcher } from '../author/kinds.ts'
import { SaltError } from '../base/errors.ts'
import { compoundWords } from '../dialect/compound-target.ts'
import { valueText } from '../dialect/json.ts'
import { checkTarget } from './check-target.ts'
import type { Target } from './matcher.ts'
import { expandCompound, expandNodegroup, type Nodegroups } from './nodegroups.ts'

/** Types that are published unchanged. */
const UNCHANGED_TYPES = new Set(
  'glob pcre list grain grain_pcre pillar pillar_pcre pillar_exact ipcidr data'.split(' '),
)

export interface ExpandSettings {
  readonly config: Readonly<Record<string, unknown>> & { readonly nodegroups: Nodegroups }
  readonly log?: Log
}

/**
 * Return a target as it is published. Definitions that only this host has are expanded: a nodegroup to its compound target; a
 * range, or a target that another plugin expands, to a list of ids. Rejects with TARGET_INVALID for a target that is invalid for
 * every minion.
 */
export async function expandTarget(target: Target, settings: ExpandSettings): Promise<Target> {
  const { tgt, tgt_type } = target
  const { nodegroups } = settings.config
  checkTarget(target)
  if (UNCHANGED_TYPES.has(tgt_type)) return target
  if (tgt_type === 'compound') return expandedCompound(target, expandCompound(tgt, nodegroups), settings)
  if (tgt_type === 'nodegroup')
    return expandedCompound(target, expandNodegroup(valueText(tgt), nodegroups), settings)
  const ids = await expandedByPlugin(tgt_type, tgt, settings)
  return ids ? { tgt: ids, tgt_type: 'list' } : target
}

async function expandedCompound(
  target: Target,
  expression: unknown,
  settings: ExpandSettings,
): Promise<Target> {
  const words = compoundWords(expression) ?? []
  if (!words.some(isRange)) {
    if (expression !== target.tgt) checkTarget({ tgt: expression, tgt_type: 'compound' })
    return { ...target, tgt: expression, tgt_type: 'compound' }
  }
  const listed = words.map(async (word) => {
    if (!isRange(word)) return word
    const ids = await expandedByPlugin('range', word.slice(2), settings)
    return `L@${ids?.join(',') || ','}` // an empty range becomes a list without ids
  })
  return { ...target, tgt: await Promise.all(listed), tgt_type: 'compound' }
}

const isRange = (word: string): boolean => word.startsWith('R@') && word.length > 2

/** Resolves with the ids, if the plugin for this type expands its targets. */
async function expandedByPlugin(
  type: string,
  expression: unknown,
  { config, log = silent }: ExpandSettings,
): Promise<readonly string[] | undefined> {
  const { openLoader } = await import('../loader/index.ts') // most jobs do not need it
  const loader = openLoader('matchers', { config, log })
  const known = await loader.pluginNames()
  if (!known.includes(type))
    throw new SaltError(
      'TARGET_INVALID',
      `There is no target type '${type}'. Known types: ${[...known].sort().join(', ')}.`,
    )
  const plugin = await loader.plugin<Matcher>(type)
  return plugin.expand?.(expression, { opts: config }).catch((error: unknown) => {
    if (!SaltError.is(error) || error.code !== 'INVOCATION') throw error
    throw new SaltError('TARGET_INVALID', error.message)
  })
}

const ignore = (): void => {}
const silent: Log = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore }
