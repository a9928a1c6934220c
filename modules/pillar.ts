/**
 * Read the pillar that the minion has. It comes from a master of Python Salt; `saltutil.refresh_pillar` fetches it again. A master of
 * salt-ts has none, so that it is empty.
 */
import { type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { pickBy } from './_values/filter-by.ts'
import { mergeDeep, sameValue } from './_values/merge.ts'
import { typeName } from './_values/python.ts'
import { entriesOf, isMapping, traverse } from './_values/traverse.ts'

const delimiter = p.default(p.string(), ':')
const MISSING = Symbol('missing')
/** Salt compiles the pillar of another environment. */
const environments = {
  pillarenv: p.optional(
    p.string({ description: 'Not possible: only the pillar that the minion has is read.' }),
  ),
  saltenv: p.optional(p.string({ description: 'Not possible, as `pillarenv`.' })),
}

/**
 * Return the value of a pillar key, which may be nested in maps and lists, or a default. With `merge`, a map or list is merged into
 * the default.
 *
 * @example salt '*' pillar.get pkg:apache
 * @example salt '*' pillar.get abc::def|ghi delimiter='|'
 */
export const get = fn(
  {
    key: p.string(),
    default: p.optional(p.any()),
    merge: p.default(p.boolean(), false),
    merge_nested_lists: p.optional(p.boolean()),
    delimiter,
    ...environments,
  },
  ({ key, default: given, merge, merge_nested_lists, delimiter, pillarenv, saltenv }, context) => {
    const pillar = pillarOf({ pillarenv, saltenv }, context)
    const found = traverse(pillar, key, MISSING, delimiter)
    const merged =
      merge && mergedInto(given, found, merge_nested_lists ?? context.opts.pillar_merge_lists === true)
    if (merged) return merged
    if (found !== MISSING) return found
    if (given === undefined && context.opts.pillar_raise_on_missing === true)
      throw new SaltInvocationError(`Pillar key not found: ${key}`)
    return given ?? (given === null ? null : '')
  },
)
export { get as fetch }

/** Merge a value into a default of the same kind; undefined if their kinds differ. */
function mergedInto(given: unknown, found: unknown, lists: boolean): unknown {
  if (isMapping(given) && (found === MISSING || isMapping(found)))
    return mergeDeep(given, found === MISSING ? {} : found, { lists })
  if (!Array.isArray(given) || !(found === MISSING || Array.isArray(found))) return undefined
  const more = found === MISSING ? [] : found
  return [...given, ...more.filter((value) => !given.some((known) => sameValue(known, value)))]
}

/**
 * Return the whole pillar, or the values of several keys.
 *
 * @example salt '*' pillar.items
 */
export const items = fn({ args: p.rest(p.string()), ...environments }, ({ args, ...wanted }, context) =>
  itemsOf(args, pillarOf(wanted, context)),
)
export { items as data }

/**
 * Return the values of several keys; one that does not exist has the default.
 *
 * @example salt '*' pillar.item foo
 * @example salt '*' pillar.item foo:bar baz
 */
export const item = fn(
  { args: p.rest(p.string()), default: p.default(p.any(), ''), delimiter, ...environments },
  ({ args, default: fallback, delimiter, ...wanted }, context) =>
    valuesOf(args, pillarOf(wanted, context), fallback, delimiter),
)

/**
 * List the keys of the pillar.
 *
 * @example salt '*' pillar.ls
 */
export const ls = fn({ args: p.rest(p.string()) }, ({ args }, { pillar }) =>
  Object.keys(itemsOf(args, pillar)),
)

/**
 * Return the whole pillar, or the value of one key; an empty map if there is no such key.
 *
 * @example salt '*' pillar.raw
 * @example salt '*' pillar.raw key=roles
 */
export const raw = fn({ key: p.optional(p.string()) }, ({ key }, { pillar }) =>
  key ? (Object.hasOwn(pillar, key) ? pillar[key] : {}) : pillar,
)

/**
 * List the keys of a map in the pillar.
 *
 * @example salt '*' pillar.keys web:sites
 */
export const keys = fn({ key: p.string(), delimiter }, ({ key, delimiter }, { pillar }) => {
  const found = traverse(pillar, key, MISSING, delimiter)
  if (found === MISSING) throw new SaltInvocationError(`Pillar key not found: ${key}`)
  if (!isMapping(found)) throw new SaltInvocationError(`Pillar value in key ${key} is not a dict`)
  return entriesOf(found).map(([name]) => name)
})

/**
 * Return the pillar with the types of its values instead of the values.
 *
 * @example salt '*' pillar.obfuscate
 */
export const obfuscate = fn({ args: p.rest(p.string()), ...environments }, ({ args, ...wanted }, context) =>
  typesIn(itemsOf(args, pillarOf(wanted, context))),
)

/**
 * Return the value from a map whose key, a glob, matches the value of a pillar key.
 *
 * @example salt '*' pillar.filter_by '{web: Serve it up, db: I query, default: x_x}' role
 */
export const filter_by = fn(
  {
    lookup_dict: p.any(),
    pillar: p.string({ description: 'A key of the pillar.' }),
    merge: p.optional(p.any()),
    default: p.default(p.string(), 'default'),
    base: p.optional(p.string()),
  },
  ({ lookup_dict, pillar: key, ...choice }, { pillar }) =>
    pickBy(lookup_dict, traverse(pillar, key, ''), choice),
)

interface Wanted {
  readonly pillarenv?: string | undefined
  readonly saltenv?: string | undefined
}

function pillarOf({ pillarenv, saltenv }: Wanted, { pillar }: Context): Context['pillar'] {
  if (pillarenv !== undefined || saltenv !== undefined)
    throw new SaltInvocationError(
      'The pillar of another environment cannot be read here; leave out pillarenv and saltenv',
    )
  return pillar
}

const itemsOf = (keys: readonly string[], pillar: Context['pillar']) =>
  keys.length > 0 ? valuesOf(keys, pillar) : pillar

function valuesOf(
  keys: readonly string[],
  pillar: Context['pillar'],
  fallback: unknown = '',
  delimiter = ':',
): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, traverse(pillar, key, fallback, delimiter)]))
}

function typesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(typesIn)
  if (isMapping(value))
    return Object.fromEntries(entriesOf(value).map(([key, inner]) => [key, typesIn(inner)]))
  return `<${typeName(value)}>`
}
