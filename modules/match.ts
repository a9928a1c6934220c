/** Test whether a target matches this minion. */
import { type Context, fn, p, SaltInvocationError, type TargetExpression } from 'salt-ts'
import { mergeDeep } from './_values/merge.ts'
import { entriesOf, isMapping } from './_values/traverse.ts'

const tgt = p.union(p.string(), p.array(p.string()))
const byId = { tgt, minion_id: p.optional(p.string()) }
const byPath = { tgt: p.string(), delimiter: p.default(p.string(), ':') }
const tgt_type = p.default(p.string(), 'compound')
const minion_id = p.optional(p.string())

const matchId = (type: string) =>
  fn(byId, ({ tgt, minion_id }, context) => matches(context, tgt, type, { minionId: minion_id }))
const matchPath = (type: string) =>
  fn(byPath, ({ tgt, delimiter }, context) => matches(context, tgt, type, { delimiter }))

/**
 * True if the id matches a shell glob.
 *
 * @example salt '*' match.glob 'web*'
 */
export const glob = matchId('glob')

/**
 * True if a regular expression matches at the start of the id.
 *
 * @example salt '*' match.pcre '.*'
 */
export const pcre = matchId('pcre')

/**
 * True if the id is in a list or in comma-separated text.
 *
 * @example salt '*' match.list 'server1,server2'
 */
export const list = matchId('list')

/**
 * True if a compound target matches this minion.
 *
 * @example salt '*' match.compound 'L@cheese,foo and *'
 */
export const compound = matchId('compound')

/**
 * True if a grain matches a shell glob.
 *
 * @example salt '*' match.grain 'os:Ubuntu'
 * @example salt '*' match.grain 'ipv6|2001:db8::ff00:42:8329' delimiter='|'
 */
export const grain = matchPath('grain')

/**
 * True if a grain matches a regular expression.
 *
 * @example salt '*' match.grain_pcre 'os:Fedo.*'
 */
export const grain_pcre = matchPath('grain_pcre')

/**
 * True if a pillar value matches a shell glob.
 *
 * @example salt '*' match.pillar 'cheese:foo'
 */
export const pillar = matchPath('pillar')

/**
 * True if a pillar value matches a regular expression.
 *
 * @example salt '*' match.pillar_pcre 'cheese:(swiss|american)'
 */
export const pillar_pcre = matchPath('pillar_pcre')

/**
 * True if the minion has this address, or an address in this network.
 *
 * @example salt '*' match.ipcidr '192.168.44.0/24'
 */
export const ipcidr = fn({ tgt: p.string() }, ({ tgt }, context) => matches(context, tgt, 'ipcidr'))

/**
 * True if a value stored with `data.update` matches a shell glob.
 *
 * @example salt '*' match.data 'role:web*'
 */
export const data = fn({ tgt: p.string() }, ({ tgt }, context) => matches(context, tgt, 'data'))

/**
 * Return the value of the first target in a map that matches this minion, else that of `default`, else null.
 *
 * @example salt '*' match.filter_by '{"foo*": Foo!, "bar*": Bar!}' minion_id=bar03
 */
export const filter_by = fn(
  {
    lookup: p.any({ description: 'A map of target to value.' }),
    tgt_type,
    minion_id,
    merge: p.optional(p.any()),
    merge_lists: p.default(p.boolean(), false),
    default: p.default(p.string(), 'default'),
  },
  async ({ lookup, default: fallback, ...how }, context) => {
    const pairs = pairsOf(lookup, 'filter_by')
    return firstMatch(pairs, new Map(pairs).get(fallback) ?? null, how, context)
  },
)

/**
 * Return the keys of a map of key to targets, where one of the targets matches this minion; null if there are none.
 *
 * @example salt '*' match.search_by '{web: [node1, node2], db: [node2, node]}'
 */
export const search_by = fn({ lookup: p.any(), tgt_type, minion_id }, async (args, context) => {
  const keys: string[] = []
  for (const [key, targets] of pairsOf(args.lookup, 'search_by')) {
    for (const target of [targets].flat()) {
      if (!(await matches(context, target, args.tgt_type, { minionId: args.minion_id }))) continue
      keys.push(key)
      break
    }
  }
  return keys.length > 0 ? keys : null
})

/**
 * Return the value that follows the first target that matches this minion. The arguments are targets and values in turn,
 * and a last value that is returned if no target matches.
 *
 * @example salt '*' match.ifelse 'foo*' 'Foo!' 'bar*' 'Bar!' minion_id=bar03 'none'
 */
export const ifelse = fn(
  {
    args: p.rest(p.any()),
    tgt_type,
    minion_id,
    merge: p.optional(p.any()),
    merge_lists: p.default(p.boolean(), false),
  },
  ({ args, ...how }, context) => {
    if (args.length % 2 === 0) {
      throw new SaltInvocationError('The ifelse function must have an odd number of arguments!')
    }
    if (args.length === 1) return args[0]
    const targets = args.slice(0, -1).filter((_, index) => index % 2 === 0)
    const pairs = targets.map((target, index) => [target, args[2 * index + 1]] as [unknown, unknown])
    return firstMatch(pairs, args.at(-1), how, context)
  },
)

interface How {
  readonly tgt_type: string
  readonly minion_id: string | undefined
  readonly merge: unknown
  readonly merge_lists: boolean
}

async function firstMatch(
  pairs: readonly (readonly [unknown, unknown])[],
  otherwise: unknown,
  { tgt_type, minion_id, merge, merge_lists }: How,
  context: Context,
): Promise<unknown> {
  for (const [target, value] of pairs) {
    const isMatch =
      typeof target === 'boolean' ? target : await matches(context, target, tgt_type, { minionId: minion_id })
    if (isMatch) return merged(value, merge, merge_lists)
  }
  return otherwise
}

function merged(value: unknown, merge: unknown, lists: boolean): unknown {
  if (merge === undefined || merge === null) return value
  if (!isMapping(merge)) throw new SaltInvocationError('filter_by merge argument must be a dictionary.')
  if (value === null || value === undefined) return merge
  if (isMapping(value)) return mergeDeep(value, merge, { lists })
  throw new SaltInvocationError(
    'filter_by can merge only into a dictionary, and the value of this target is not one.',
  )
}

function pairsOf(lookup: unknown, name: string): [string, unknown][] {
  if (isMapping(lookup)) return entriesOf(lookup)
  throw new SaltInvocationError(`The lookup of match.${name} must be a dictionary`)
}

// As in Salt, an invalid target matches no minion; the reason is logged.
async function matches(
  context: Context,
  tgt: unknown,
  type: string,
  options: { delimiter?: string; minionId?: string } = {},
): Promise<boolean> {
  try {
    return await context.match(tgt as TargetExpression, type, options) // it refuses anything else with a sentence
  } catch (cause) {
    context.log.error(`match.${type}: ${cause instanceof Error ? cause.message : cause}`)
    return false
  }
}
