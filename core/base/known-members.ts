import { closest } from './closest.ts'
import { SaltError } from './errors.ts'

/** The names of all members of a type T, as a map. */
export type MembersOf<T> = { readonly [K in keyof Required<T>]: true }

/**
 * Refuse a value that is not a map, or has unknown members. `what` names the function that takes it, as the subject of the
 * message.
 * @throws SaltError INVOCATION
 */
export function refuseUnknownMembers(
  what: string,
  given: unknown,
  known: Readonly<Record<string, true>>,
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw refused(`${what} takes a map of ${Object.keys(known).join(', ')}, but was given ${shown(given)}.`)
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  const nearest = nearestMember(unknown, Object.keys(known))
  const advice =
    nearest === undefined ? `It takes ${Object.keys(known).join(', ')}.` : `Did you mean '${nearest}'?`
  throw refused(`${what} takes no '${unknown}'. ${advice}`)
}

/** Python Salt's clients write names in snake case, JavaScript in camel case. */
const nearestMember = (name: string, known: readonly string[]) =>
  closest(
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    known,
  )

const shown = (given: unknown) =>
  typeof given === 'string' ? `'${given}'` : Array.isArray(given) ? 'a list' : String(given)

const refused = (message: string) => new SaltError('INVOCATION', message)
