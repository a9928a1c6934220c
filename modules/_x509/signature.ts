/** Signatures of certificates and revocation lists. */
import { type KeyObject, verify } from 'node:crypto'
import { SaltInvocationError } from 'salt-ts'
import { type Der, inside, oidText } from './der.ts'

/** Names of the algorithms, and the digest that Node verifies them with. */
const ALGORITHMS: Readonly<Record<string, readonly [name: string, digest: string | null]>> = {
  '1.2.840.113549.1.1.4': ['md5WithRSAEncryption', 'md5'],
  '1.2.840.113549.1.1.5': ['sha1WithRSAEncryption', 'sha1'],
  '1.2.840.113549.1.1.11': ['sha256WithRSAEncryption', 'sha256'],
  '1.2.840.113549.1.1.12': ['sha384WithRSAEncryption', 'sha384'],
  '1.2.840.113549.1.1.13': ['sha512WithRSAEncryption', 'sha512'],
  '1.2.840.10045.4.1': ['ecdsa-with-SHA1', 'sha1'],
  '1.2.840.10045.4.3.2': ['ecdsa-with-SHA256', 'sha256'],
  '1.2.840.10045.4.3.3': ['ecdsa-with-SHA384', 'sha384'],
  '1.2.840.10045.4.3.4': ['ecdsa-with-SHA512', 'sha512'],
  '1.3.101.112': ['ED25519', null],
  '1.3.101.113': ['ED448', null],
}

/** Return OpenSSL's name of the algorithm that a certificate or list was signed with; its number, if it has none here. */
export function algorithmOf(signed: Der): string {
  const oid = algorithmId(signed)
  return ALGORITHMS[oid]?.[0] ?? oid
}

/** Whether a certificate or list was signed with a key. */
export function isSignedBy(signed: Der, key: KeyObject): boolean {
  const [data, , signature] = inside(signed)
  const [, digest] = ALGORITHMS[algorithmId(signed)] ?? []
  if (digest === undefined)
    throw new SaltInvocationError(`Signatures by ${algorithmOf(signed)} cannot be verified`)
  if (!data || !signature) return false
  return verify(digest, data.raw, key, signature.content.subarray(1))
}

function algorithmId(signed: Der): string {
  const algorithm = inside(signed)[1]
  const [oid] = algorithm ? inside(algorithm) : []
  return oid ? oidText(oid) : ''
}
