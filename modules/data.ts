/** Store values on the minion, for targets of the type `data` and for other functions. */
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { isMapping } from './_values/traverse.ts'

/** A number stays a number among the names; the names 5 and '5' are one. */
const key = p.union(p.string(), p.number())
/** Tries of `data.pop` before it fails, if other jobs keep changing the value. */
const ATTEMPTS = 10

/**
 * Return all values, by name.
 *
 * @example salt '*' data.load
 */
export const load = fn({}, (_, { minion }) => minion.readData())

/**
 * Return all values, by name; the same as `data.load`.
 *
 * @example salt '*' data.items
 */
export const items = fn({}, (_, { minion }) => minion.readData())

/**
 * List the names of all values.
 *
 * @example salt '*' data.keys
 */
export const keys = fn({}, (_, { minion }) => minion.dataKeys())

/**
 * List the values without their names.
 *
 * @example salt '*' data.values
 */
export const values = fn({}, async (_, { minion }) => {
  const kept = await minion.readData()
  const names = (await minion.dataKeys()).map(String)
  return names.filter((name) => Object.hasOwn(kept, name)).map((name) => kept[name])
})

/**
 * True if there is a value of this name.
 *
 * @example salt '*' data.has_key role
 */
export const has_key = fn({ key }, async ({ key }, { minion }) =>
  Object.hasOwn(await minion.readData(), String(key)),
)

/**
 * Return the value of this name, or a default. For a list of names, return a list of the values that exist; with a
 * default, a value for each name.
 *
 * @example salt '*' data.get role
 * @example salt '*' data.get '[role, rack]'
 */
export const get = fn({ key: p.any(), default: p.optional(p.any()) }, async (args, { minion }) => {
  const kept = await minion.readData()
  const otherwise = args.default ?? null
  const isThere = (name: unknown) => Object.hasOwn(kept, String(name))
  const valueAt = (name: unknown) => (isThere(name) ? kept[String(name)] : otherwise)
  if (!Array.isArray(args.key)) return valueAt(args.key)
  return args.key.filter((name) => otherwise !== null || isThere(name)).map(valueAt)
})

/**
 * Store a value.
 *
 * @example salt '*' data.update role web
 */
export const update = fn({ key, value: p.any() }, ({ key, value }, { minion }) =>
  minion.changeData({ put: new Map([[key, value]]) }),
)

/**
 * Replace a value if it equals `old_value`; false if it does not.
 *
 * @example salt '*' data.cas role web2 web
 */
export const cas = fn({ key, value: p.any(), old_value: p.any() }, ({ key, value, old_value }, { minion }) =>
  minion.changeData({ put: new Map([[key, value]]), expect: { key: String(key), value: old_value } }),
)

/**
 * Remove a value and return it, or the default if there is none.
 *
 * @example salt '*' data.pop role
 */
export const pop = fn({ key, default: p.optional(p.any()) }, async (args, { minion }) => {
  const key = String(args.key)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const kept = await minion.readData()
    if (!Object.hasOwn(kept, key)) return args.default ?? null
    const value = kept[key]
    if (await minion.changeData({ remove: [key], expect: { key, value } })) return value
  }
  throw new CommandExecutionError(`'${key}' was not removed, because other jobs keep changing it. Try again.`)
})

/**
 * Replace all stored values with these.
 *
 * @example salt '*' data.dump '{role: web, rack: 7}'
 */
export const dump = fn({ new_data: p.any() }, ({ new_data }, { minion }) => {
  if (!isMapping(new_data))
    throw new SaltInvocationError("The values for data.dump must be a map such as '{role: web}'.")
  return minion.changeData({ replace: new_data })
})

/**
 * Remove all values.
 *
 * @example salt '*' data.clear
 */
export const clear = fn({}, (_, { minion }) => minion.changeData({ replace: {} }))
