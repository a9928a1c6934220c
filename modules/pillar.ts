/**
 * Read the pillar that the minion has. It comes from a master of Python Salt; `saltutil.refresh_pillar` fetches it again. A master of
 * salt-ts has none, so that it is empty.
 */
import { stat } from 'node:fs/promises'
import { isAbsolute, join, normalize } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { pickBy } from './_values/filter-by.ts'
import { mergeDeep, sameValue } from './_values/merge.ts'
import { typeName } from './_values/python.ts'
import { entriesOf, isMapping, traverse } from './_values/traverse.ts'

const delimiter = p.default(p.string(), ':')
const MISSING = Symbol('missing')
/** Salt compiles the pillar of another environment. */
const environments = {
  pillarenv: p.optional(
    p.string({
      description:
        'That of the pillar that the minion has: another one cannot be read, but without a master all are empty.',
    }),
  ),
  saltenv: p.optional(
    p.string({ description: 'Has an effect only with `pillarenv_from_saltenv`: that of `pillarenv`.' }),
  ),
}
const whole = {
  ...environments,
  pillar: p.optional(p.secret(p.any({ description: 'A map that is merged over the pillar.' }))),
}
const kwargs = p.keywords(p.any({ description: 'Ignored.' }))

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
 * @example salt '*' pillar.items pillar='{role: web}'
 */
export const items = fn({ args: p.rest(p.string()), ...whole, kwargs }, ({ args, ...wanted }, context) =>
  itemsOf(args, args.length > 0 ? context.pillar : wholeOf(wanted, context)),
)
export { items as data }

/**
 * Return the values of several keys; one that does not exist has the default.
 *
 * @example salt '*' pillar.item foo
 * @example salt '*' pillar.item foo:bar baz
 */
export const item = fn(
  { args: p.rest(p.string()), default: p.default(p.any(), ''), delimiter, ...environments, kwargs },
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
export const obfuscate = fn({ args: p.rest(p.string()), ...whole, kwargs }, ({ args, ...wanted }, context) =>
  typesIn(itemsOf(args, args.length > 0 ? context.pillar : wholeOf(wanted, context))),
)

/** Whether a path stays in the folder that it begins in. */
const isInside = (path: string): boolean => !isAbsolute(path) && !/^\.\.(\/|$)/.test(normalize(path))

/**
 * True if a file is in the folders of `pillar_roots` of this host, which are those of a master with the same configuration.
 *
 * @example salt-call --local pillar.file_exists foo.sls
 * @example salt-call --local pillar.file_exists foo/init.sls saltenv=dev
 */
export const file_exists = fn(
  { path: p.string(), saltenv: p.optional(p.string()) },
  async ({ path, saltenv }, { opts }) => {
    const roots = isMapping(opts.pillar_roots) ? entriesOf(opts.pillar_roots) : []
    if (roots.length === 0)
      throw new CommandExecutionError('No pillar_roots found. Are you running this on the master?')
    const folders = roots
      .filter(([name]) => !saltenv || name === saltenv)
      .flatMap(([, folders]) => (Array.isArray(folders) ? folders.map(String) : []))
    if (!isInside(path)) return false
    const isFile = (folder: string) =>
      stat(join(folder, path)).then(
        (found) => found.isFile(),
        () => false,
      )
    return (await Promise.all(folders.map(isFile))).includes(true)
  },
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

/** Return the pillar that the minion has, unless that of another environment is wanted. */
function pillarOf({ pillarenv, saltenv }: Wanted, { opts, pillar }: Context): Context['pillar'] {
  const wanted = pillarenv ?? (opts.pillarenv_from_saltenv === true ? saltenv : undefined)
  const isOwn = wanted === undefined || wanted === opts.pillarenv
  if (isOwn || (opts.file_client === 'local' && Object.keys(pillar).length === 0)) return pillar
  throw new SaltInvocationError(
    `The pillar of the environment ${wanted} cannot be read here; leave out pillarenv and saltenv`,
  )
}

function wholeOf(
  { pillar: over, ...wanted }: Wanted & { readonly pillar?: unknown },
  context: Context,
): Context['pillar'] {
  const pillar = pillarOf(wanted, context)
  return isMapping(over) ? (mergeDeep(pillar, over, {}) as Context['pillar']) : pillar
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
