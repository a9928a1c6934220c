/** A name and a password, as nearly all backends take them. */
import type { Credentials } from 'salt-ts'

export interface Refused {
  readonly refused: string
}

export interface NameAndPassword {
  readonly username: string
  readonly password: string
}

const MAX_NAME = 256
/** Bytes. Hashing more would cost more. */
const MAX_PASSWORD = 4096

/**
 * What could not be a name or a password is refused before anybody is asked: names that logs and files could show as others,
 * that databases take for others, or that `external_auth` has for groups; passwords that would be cut short at a NUL; and
 * empty ones, with which some directories let everybody in as nobody in particular.
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
  if (/\p{C}/u.test(name)) return 'the username has characters that cannot be seen'
  if (name !== name.trim()) return 'the username begins or ends with a blank'
  if (name.endsWith('%')) return 'the username ends with %, which marks groups'
  return undefined
}

export function wrongWithPassword(password: unknown): string | undefined {
  if (typeof password !== 'string' || password === '') return 'no password was given as text'
  if (Buffer.byteLength(password) > MAX_PASSWORD) return `the password is longer than ${MAX_PASSWORD} bytes`
  if (/[\0\p{Cs}]/u.test(password)) return 'the password has characters that no password has'
  return undefined
}
