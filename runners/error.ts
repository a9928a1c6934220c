/** Failures on purpose, to see what becomes of them. */
import { CommandExecutionError, CommandNotFoundError, fn, p, SaltInvocationError } from 'salt-ts'

const known = { CommandExecutionError, CommandNotFoundError, SaltInvocationError }

/**
 * Fail with an error of this name and with this message; without a name nothing happens.
 *
 * @example salt-run error.error name=CommandExecutionError message='It was meant to fail.'
 */
export const error = fn(
  { name: p.optional(p.string()), message: p.default(p.string(), '') },
  ({ name, message }) => {
    if (name === undefined) return {}
    if (Object.hasOwn(known, name)) throw new known[name as keyof typeof known](message)
    throw Object.assign(new Error(message), { name })
  },
)
