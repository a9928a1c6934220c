/** Deliberate errors, to test how errors are handled. */
import { CommandExecutionError, CommandNotFoundError, fn, p, SaltInvocationError } from 'salt-ts'

const known = { CommandExecutionError, CommandNotFoundError, SaltInvocationError }

/**
 * Raise an error with this name and message; without a name, do nothing.
 *
 * @example salt-run error.error name=CommandExecutionError message='This is a test.'
 */
export const error = fn(
  { name: p.optional(p.string()), message: p.default(p.string(), '') },
  ({ name, message }) => {
    if (name === undefined) return {}
    if (Object.hasOwn(known, name)) throw new known[name as keyof typeof known](message)
    throw Object.assign(new Error(message), { name })
  },
)
