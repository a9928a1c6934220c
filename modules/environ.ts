/**
 * Read and change the environment of a job. A change lasts until the end of its job, as with job processes of Salt: later functions
 * of the job see it, and commands of `cmd` get it. A command alone gets variables by the parameter `env` of `cmd.run`.
 */
import { type Context, fn, p, SaltInvocationError } from 'salt-ts'
import { changeVariable, jobEnvironment } from './_environ/job-environment.ts'

const key = p.any({ description: 'The name of a variable; other values than text are never set.' })
const fallback = p.default(p.any(), '')
const false_unsets = p.default(p.boolean(), false)
/** Parameter that has an effect on Windows only. */
const permanent = p.default(p.any({ description: 'Has no effect on Linux.' }), false)

/**
 * Set an environment variable, and return its value. `False` sets it to an empty text or, with `false_unsets`, removes it, which
 * returns null. Other values are not set, and return false.
 *
 * @example salt '*' environ.setval foo bar
 * @example salt '*' environ.setval baz val=False false_unsets=True
 */
export const setval = fn(
  { key, val: p.any(), false_unsets, permanent },
  ({ key, val, false_unsets }, context) =>
    typeof key === 'string' && setVariable(key, val, false_unsets, context),
)

/**
 * Set several environment variables as `environ.setval` does, and return the results by name; false, and nothing is set, if one of
 * them is neither text nor false. With `clear_all`, all others are set
 * to an empty text or, with `false_unsets`, removed.
 *
 * @example salt '*' environ.setenv '{"foo": "bar", "baz": "quux"}'
 * @example salt '*' environ.setenv '{"a": "b", "c": False}' false_unsets=True
 */
export const setenv = fn(
  {
    environ: p.any(),
    false_unsets,
    clear_all: p.default(p.boolean(), false),
    update_minion: p.default(p.boolean({ description: 'Not possible: true is refused.' }), false),
    permanent,
  },
  ({ environ, false_unsets, clear_all, update_minion }, context) => {
    if (update_minion)
      throw new SaltInvocationError(
        'update_minion is not supported: set variables of the minion in the unit or script that starts it',
      )
    if (!isSettable(environ)) return false
    const others = clear_all ? Object.keys(jobEnvironment(context)).filter((name) => !(name in environ)) : []
    const wanted = [...others.map((name) => [name, false] as const), ...Object.entries(environ)]
    return Object.fromEntries(
      wanted.map(([name, value]) => [name, setVariable(name, value, false_unsets, context)]),
    )
  },
)

/** Whether it is a map of texts, and of false for variables to empty or unset. */
const isSettable = (given: unknown): given is Record<string, unknown> =>
  typeof given === 'object' &&
  given !== null &&
  !Array.isArray(given) &&
  Object.values(given).every((value) => value === false || typeof value === 'string')

function setVariable(name: string, value: unknown, falseUnsets: boolean, context: Context): unknown {
  if (name === '' || /[=\0]/.test(name))
    throw new SaltInvocationError('The name of a variable is not empty, and has no "=" and no null byte')
  if (value === false && falseUnsets) {
    changeVariable(name, undefined, context)
    return null
  }
  const text = value === false ? '' : value
  if (typeof text !== 'string') return false
  if (text.includes('\0')) throw new SaltInvocationError(`The value of ${name} has a null byte`)
  changeVariable(name, text, context)
  return text
}

/**
 * Return the value of an environment variable, or a default; false for a name that is no text.
 *
 * @example salt '*' environ.get PATH
 * @example salt '*' environ.get foo default=bar
 */
export const get = fn(
  { key, default: fallback },
  ({ key, default: fallback }, context) =>
    typeof key === 'string' && (jobEnvironment(context)[key] ?? fallback),
)

/**
 * True if an environment variable exists and, if `value` is given, has that value.
 *
 * @example salt '*' environ.has_value PATH
 * @example salt '*' environ.has_value LANG value=C.UTF-8
 */
export const has_value = fn({ key, value: p.optional(p.string()) }, ({ key, value }, context) => {
  if (typeof key !== 'string') return false
  const found = jobEnvironment(context)[key]
  return found !== undefined && (value === undefined || found === value)
})

/**
 * Return several environment variables; one that does not exist has the default. Returns nothing for a name that is no text.
 *
 * @example salt '*' environ.item PATH
 * @example salt '*' environ.item '[PATH, LANG]'
 */
export const item = fn(
  { keys: p.any({ description: 'A name, or a list of names.' }), default: fallback },
  ({ keys, default: fallback }, context) => {
    const environment = jobEnvironment(context)
    const names = [keys].flat().filter((key) => typeof key === 'string')
    return Object.fromEntries(names.map((key) => [key, environment[key] ?? fallback]))
  },
)

/**
 * Return the whole environment.
 *
 * @example salt '*' environ.items
 */
export const items = fn((_, context) => jobEnvironment(context))
