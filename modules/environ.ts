/**
 * Read the environment of the minion's processes.
 *
 * Functions that change it do not exist: a job process of salt-ts runs many jobs, and would pass the change on to the next
 * ones. Commands get theirs by the parameter `env` of `cmd.run`.
 */
import { fn, p } from 'salt-ts'

const key = p.string()
const fallback = p.default(p.any(), '')

/**
 * Return the value of an environment variable, or a default.
 *
 * @example salt '*' environ.get PATH
 * @example salt '*' environ.get foo default=bar
 */
export const get = fn(
  { key, default: fallback },
  ({ key, default: fallback }) => process.env[key] ?? fallback,
)

/**
 * True if an environment variable exists and, if `value` is given, has that value.
 *
 * @example salt '*' environ.has_value PATH
 * @example salt '*' environ.has_value LANG value=C.UTF-8
 */
export const has_value = fn({ key, value: p.optional(p.string()) }, ({ key, value }) => {
  const found = process.env[key]
  return found !== undefined && (value === undefined || found === value)
})

/**
 * Return several environment variables; one that does not exist has the default.
 *
 * @example salt '*' environ.item PATH
 * @example salt '*' environ.item '[PATH, LANG]'
 */
export const item = fn(
  { keys: p.union(p.string(), p.array(p.string())), default: fallback },
  ({ keys, default: fallback }) =>
    Object.fromEntries([keys].flat().map((key) => [key, process.env[key] ?? fallback])),
)

/**
 * Return the whole environment.
 *
 * @example salt '*' environ.items
 */
export const items = fn(() => ({ ...process.env }))
