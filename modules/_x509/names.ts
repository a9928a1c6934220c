/** Names of subjects and issuers. */
import { createHash } from 'node:crypto'
import { type Der, inside, oidText, stringOf } from './der.ts'

const ATTRIBUTES: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'title',
  '2.5.4.42': 'GN',
  '1.2.840.113549.1.9.1': 'emailAddress',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
}

/** Return the parts of a name by kind. Of several parts of one kind the last stays. */
export function nameParts(name: Der): Record<string, string> {
  const parts = inside(name).flatMap((set) => inside(set).map(inside))
  return Object.fromEntries(
    parts.flatMap(([kind, value]) =>
      kind && value ? [[ATTRIBUTES[oidText(kind)] ?? oidText(kind), stringOf(value)]] : [],
    ),
  )
}

const SALT_NAMES: Readonly<Record<string, string>> = { ST: 'SP', emailAddress: 'Email' }

/** Return the parts of a subject or issuer by the names that Salt shows, which are those of M2Crypto. */
export const subjectParts = (name: Der): Record<string, string> =>
  Object.fromEntries(
    Object.entries(nameParts(name)).map(([kind, value]) => [SALT_NAMES[kind] ?? kind, value]),
  )

/** Return the hash of a name that Salt shows, OpenSSL's `-subject_hash_old`: the first four bytes of its MD5, the last one first. */
export function nameHash(name: Der): string {
  const digest = createHash('md5').update(name.raw).digest()
  return digest
    .subarray(0, 4)
    .reverse()
    .toString('hex')
    .toUpperCase()
    .replace(/^0+(?=.)/, '')
}
