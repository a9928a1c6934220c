import { closest } from './closest.ts'
import { SaltError } from './errors.ts'

/** Names of all members that a map of type T may have. */
export type MembersOf<T> = { readonly [K in keyof Required<T>]: true }

/**
 * Refuse what is no map, or has members that nothing reads. `what` is what takes it: `runJob`, a sentence's subject.
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
  const meant = meantBy(unknown, Object.keys(known))
  const advice =
    meant === undefined ? `It takes ${Object.keys(known).join(', ')}.` : `Did you mean '${meant}'?`
  throw refused(`${what} takes no '${unknown}'. ${advice}`)
}

/** Names of one of the clients of Python Salt are written with `_`, those of JavaScript are not. */
const meantBy = (name: string, known: readonly string[]) =>
  closest(
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    known,
  )

const shown = (given: unknown) =>
  typeof given === 'string' ? `'${given}'` : Array.isArray(given) ? 'a list' : String(given)

const refused = (message: string) => new SaltError('INVOCATION', message)
