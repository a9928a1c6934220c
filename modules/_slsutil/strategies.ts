import { CommandExecutionError, type Log } from 'salt-ts'
import { mergeDeep, sameValue } from '../_values/merge.ts'
import { entriesOf, isMapping, type Mapping } from '../_values/traverse.ts'

interface How {
  readonly strategy: string
  readonly renderer: string
  readonly merge_lists: boolean
}

/** Merge two values by Salt's strategies. `smart` is `aggregate` for the renderer yamlex, and else `recurse`. */
export function mergeBy(below: unknown, over: unknown, { strategy, renderer, merge_lists }: How, log: Log) {
  switch (strategy === 'smart' ? smart(renderer) : strategy) {
    case 'list':
      return mergeIntoLists(mapping(below), mapping(over))
    case 'aggregate':
      return aggregate(below, over)
    case 'overwrite':
      return { ...plain(below), ...plain(over) }
    case 'recurse':
      return mergeDeep(mapping(below), mapping(over), { lists: merge_lists })
    case 'none':
      return mergeDeep(mapping(below), mapping(over))
    default:
      log.warn(`Unknown merging strategy '${strategy}', fallback to recurse`)
      return mergeDeep(mapping(below), mapping(over))
  }
}

const smart = (renderer: string): string =>
  renderer.split('|').at(-1) === 'yamlex' || renderer.startsWith('yamlex_') ? 'aggregate' : 'recurse'

/** Merge `over` into a copy of `below`, maps recursively, or only the first level. */
export function update(below: unknown, over: unknown, recursive: boolean, lists: boolean) {
  return recursive ? mergeDeep(mapping(below), mapping(over), { lists }) : { ...plain(below), ...plain(over) }
}

/** Make a list of both values of each key that both maps have. Other keys of the second map are left out, as in Salt. */
function mergeIntoLists(below: Mapping, over: Mapping): Record<string, unknown> {
  const others = new Map(entriesOf(over))
  return Object.fromEntries(
    entriesOf(below).map(([key, value]) => [key, others.has(key) ? [value, others.get(key)] : value]),
  )
}

/** Join two lists, or the first level of two maps. Of any other two values, the second stays. */
function aggregate(below: unknown, over: unknown): unknown {
  if (isMapping(below) && isMapping(over)) return { ...plain(below), ...plain(over) }
  if (!Array.isArray(below) || !Array.isArray(over)) return over
  return [...below, ...over.filter((value) => !below.some((known) => sameValue(known, value)))]
}

const plain = (value: unknown) => Object.fromEntries(entriesOf(mapping(value)))

function mapping(value: unknown): Mapping {
  if (isMapping(value)) return value
  throw new CommandExecutionError('Cannot update using non-dict types in dictupdate.update()')
}
