/** Checks of the name and the password that most backends take. */
import type { Credentials } from 'salt-ts'

export interface Refused {
  readonly refused: string
}

export interface NameAndPassword {
  readonly username: string
  readonly password: string
}

const MAX_NAME = 256
/** Bytes. The cost of hashing grows with the length. */
const MAX_PASSWORD = 4096

/**
 * Check the name and the password before a backend sees them. Refused names: those that logs and files could show as another
 * name, that databases take for another name, or that `external_auth` uses for groups. Refused passwords: those that a NUL
 * would cut short, and empty ones, which some directories accept as an anonymous bind.
 */
export function nameAndPassword(credentials: Credentials): NameAndPassword | Refused {
  const { username } = credentials
  const refused = wrongWithName(username) ?? wrongWithPassword(credentials.password)
  if (refused !== undefined) return { refused }
  return { username: username as string, password: credentials.password as string }
}

export function wrongWithName(name: unknown): string | undefined {
  if (typeof name !== 'string' || name === '') return 'no username was given as text'
  if (name.length > MAX_NAME) return `the username is longer than ${MAX_NAME} characters`
  if (/\p{C}/u.test(name)) return 'the username has invisible characters'
  if (name !== name.trim()) return 'the username begins or ends with white space'
  if (name.endsWith('%')) return 'the username ends with %, which marks groups'
  return undefined
}

export function wrongWithPassword(password: unknown): string | undefined {
  if (typeof password !== 'string' || password === '') return 'no password was given as text'
  if (Buffer.byteLength(password) > MAX_PASSWORD) return `the password is longer than ${MAX_PASSWORD} bytes`
  if (/[\0\p{Cs}]/u.test(password)) return 'the password has a NUL or an unpaired surrogate'
  return undefined
}
