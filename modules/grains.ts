/**
 * Read and set the grains of the minion.
 *
 * Grains that are set here are stored in the file `grains` beside the minion's configuration and sent to the master at
 * once. They do not override grains that are set in the configuration itself.
 */
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { type Changes, changeGrainsFile, type Grains, grainsPath } from './_grains/file.ts'
import { MISSING, valueAt, withNested } from './_grains/nested.ts'
import { sanitized } from './_grains/sanitize.ts'
import { pickBy } from './_values/filter-by.ts'
import { sameValue } from './_values/merge.ts'
import { pythonText } from './_values/python.ts'
import { isMapping, traverse } from './_values/traverse.ts'

const delimiter = p.default(p.string(), ':')
const key = p.string()
const flag = p.default(p.boolean(), false)

export const outputter = { items: 'nested', item: 'nested', setval: 'nested' }

/**
 * Return the value of a grain, which may be nested in maps and lists, or a default.
 *
 * @example salt '*' grains.get pkg:apache
 * @example salt '*' grains.get ip_interfaces:eth0:0
 */
export const get = fn(
  { key, default: p.default(p.any(), ''), delimiter, ordered: p.default(p.boolean(), true) },
  ({ key, default: fallback, delimiter }, { grains }) => traverse(grains, key, fallback, delimiter),
)

/**
 * Alias of `grains.get`.
 *
 * @example salt '*' grains.fetch pkg:apache
 */
export { get as fetch }

/**
 * True if a grain exists.
 *
 * @example salt '*' grains.has_value pkg:apache
 */
export const has_value = fn({ key }, ({ key }, { grains }) => traverse(grains, key, MISSING) !== MISSING)

/**
 * Return all grains. `sanitize` hides the names of the host and its serial number.
 *
 * @example salt '*' grains.items
 * @example salt '*' grains.items sanitize=True
 */
export const items = fn({ sanitize: flag }, ({ sanitize }, { grains }) =>
  sanitize ? sanitized(grains) : grains,
)

/**
 * Return several grains; one that does not exist has the default.
 *
 * @example salt '*' grains.item os
 * @example salt '*' grains.item os osrelease oscodename
 * @example salt '*' grains.item host sanitize=True
 */
export const item = fn(
  { args: p.rest(p.string()), default: p.default(p.any(), ''), delimiter, sanitize: flag },
  ({ args, default: fallback, delimiter, sanitize }, { grains }) => {
    const found = Object.fromEntries(args.map((name) => [name, traverse(grains, name, fallback, delimiter)]))
    return sanitize ? sanitized(found) : found
  },
)

/**
 * List the names of all grains, sorted.
 *
 * @example salt '*' grains.ls
 */
export const ls = fn((_, { grains }) => Object.keys(grains).sort())

/**
 * Set several grains and return them. With `destructive`, those that are null are removed.
 *
 * @example salt '*' grains.setvals "{'key1': 'val1', 'key2': 'val2'}"
 */
export const setvals = fn(
  { grains: p.any(), destructive: flag, refresh_pillar: p.default(p.boolean(), true) },
  ({ grains, destructive }, context) => {
    if (!isMapping(grains)) throw new SaltInvocationError('setvals grains must be a dictionary.')
    return store(grains as Grains, destructive, context)
  },
)

/**
 * Set a grain and return it. With `destructive` and a value of null it is removed.
 *
 * @example salt '*' grains.setval key val
 * @example salt '*' grains.setval key "{'sub-key': 'val', 'sub-key2': 'val2'}"
 */
export const setval = fn(
  { key, val: p.any(), destructive: flag, refresh_pillar: p.default(p.boolean(), true) },
  ({ key, val, destructive }, context) => store({ [key]: val ?? null }, destructive, context),
)

/**
 * Append a value, or each value of a list, to a grain that is a list. `convert` first turns any other grain into a list.
 *
 * @example salt '*' grains.append roles web
 */
export const append = fn(
  { key, val: p.any(), convert: flag, delimiter },
  ({ key, val, convert, delimiter }, context) =>
    changeList(key, delimiter, context, (found) => {
      const list = convert && !Array.isArray(found) ? (found === null ? [] : [found]) : found
      if (!Array.isArray(list)) return `The key ${key} is not a valid list`
      if (list.some((value) => sameValue(value, val)))
        return `The val ${pythonText(val)} was already in the list ${key}`
      return [...list, ...[val].flat()]
    }),
)

/**
 * Remove a value from a grain that is a list.
 *
 * @example salt '*' grains.remove roles web
 */
export const remove = fn({ key, val: p.any(), delimiter }, ({ key, val, delimiter }, context) =>
  changeList(key, delimiter, context, (list) => {
    if (!Array.isArray(list)) return `The key ${key} is not a valid list`
    const at = list.findIndex((value) => sameValue(value, val))
    return at < 0 ? `The val ${pythonText(val)} was not in the list ${key}` : list.toSpliced(at, 1)
  }),
)

/**
 * Remove a grain, which may be nested. `force` is needed for maps and lists.
 *
 * @example salt '*' grains.delkey key
 */
export const delkey = fn({ key, force: flag }, ({ key, force }, context) =>
  setNested(key, null, { force, destructive: true, delimiter: ':' }, context),
)

/**
 * Set a grain to null, or remove it with `destructive`.
 *
 * @example salt '*' grains.delval key
 */
export const delval = fn({ key, destructive: flag, force: flag }, ({ key, destructive, force }, context) =>
  setNested(key, null, { force, destructive, delimiter: ':' }, context),
)

/**
 * Set a grain, which may be nested, and return what changed. `force` overwrites maps and lists.
 *
 * @example salt '*' grains.set 'apps:myApp:port' 2209
 * @example salt '*' grains.set 'apps:myApp' '{port: 2209}'
 */
const set_ = fn(
  { key, val: p.default(p.any(), ''), force: flag, destructive: flag, delimiter },
  ({ key, val, ...how }, context) => setNested(key, val, how, context),
)

export { set_ as set }

/**
 * True if a grain has this value.
 *
 * @example salt '*' grains.equals os Debian
 */
export const equals = fn({ key, value: p.any() }, ({ key, value }, { grains }) => {
  const found = traverse(grains, key, '')
  return sameValue(found, value) || String(found) === String(value)
})

/**
 * Return the value from a map whose key, a glob, matches the value of a grain.
 *
 * @example salt '*' grains.filter_by '{Debian: {pkg: apache2}, RedHat: {pkg: httpd}}'
 * @example salt '*' grains.filter_by '{default: {A: {B: C}, D: E}, F: {A: {B: G}}}' grain=os base=default
 */
export const filter_by = fn(
  {
    lookup_dict: p.any(),
    grain: p.default(p.string(), 'os_family'),
    merge: p.optional(p.any()),
    default: p.default(p.string(), 'default'),
    base: p.optional(p.string()),
  },
  ({ lookup_dict, grain, ...choice }, { grains }) => pickBy(lookup_dict, traverse(grains, grain, []), choice),
)

async function store(values: Readonly<Record<string, unknown>>, destructive: boolean, context: Context) {
  const changes = Object.entries(values).map(([name, value]) => [
    name,
    destructive && value === null ? undefined : (value ?? null),
  ])
  await change(context, () => Object.fromEntries(changes))
  return values
}

// The file takes precedence over the grains at the start of this job: another job may have written it since.
async function change(context: Context, decide: (grains: Grains) => Changes | undefined): Promise<void> {
  let changed = false
  await changeGrainsFile(grainsPath(context), (kept) => {
    const changes = decide({ ...context.grains, ...kept })
    changed = changes !== undefined
    return changes
  })
  if (changed && context.opts.local !== true) await context.minion.refreshGrains()
}

async function changeList(
  path: string,
  delimiter: string,
  context: Context,
  edit: (found: unknown) => unknown[] | string,
): Promise<unknown> {
  let answer: unknown
  await change(context, (grains) => {
    const found = valueAt(grains, path, delimiter)
    const list = edit(found === MISSING ? [] : found)
    answer = list
    if (typeof list === 'string') return undefined
    const nesting = withNested(grains, path, list, { delimiter })
    if ('refused' in nesting) throw new CommandExecutionError(nesting.refused)
    answer = { [nesting.key]: nesting.value }
    return { [nesting.key]: nesting.value }
  })
  return answer
}

async function setNested(
  path: string,
  value: unknown,
  { force, destructive, delimiter }: { force: boolean; destructive: boolean; delimiter: string },
  context: Context,
) {
  const remove = destructive && value === null
  let answer: { comment: string; changes: object; result: boolean } = {
    comment: '',
    changes: {},
    result: true,
  }
  await change(context, (grains) => {
    const found = valueAt(grains, path, delimiter)
    if (!remove && sameValue(found, value)) {
      answer = { ...answer, comment: 'Grain is already set' }
      return undefined
    }
    const refused = force ? undefined : conflict(path, found, value)
    const nesting = refused ? { refused } : withNested(grains, path, value, { delimiter, force, remove })
    if ('refused' in nesting) {
      answer = { ...answer, comment: nesting.refused, result: false }
      return undefined
    }
    answer = { ...answer, changes: { [nesting.key]: nesting.value ?? null } }
    return { [nesting.key]: nesting.value }
  })
  return answer
}

function conflict(path: string, found: unknown, value: unknown): string | undefined {
  const isComplex = (candidate: unknown) => Array.isArray(candidate) || isMapping(candidate)
  if (isComplex(found)) {
    return `The key '${path}' exists but is a dict or a list. Use 'force=True' to overwrite.`
  }
  if (isComplex(value) && found !== MISSING && found !== null) {
    return `The key '${path}' exists and the given value is a dict or a list. Use 'force=True' to overwrite.`
  }
  return undefined
}
