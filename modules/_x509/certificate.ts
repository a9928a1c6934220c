import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { SaltInvocationError } from 'salt-ts'
import { pemEntry } from './pem.ts'

/** Read a certificate, of a text or a file. */
export async function readX509(given: string): Promise<X509Certificate> {
  const pem = await pemEntry(given, 'CERTIFICATE')
  try {
    return new X509Certificate(pem)
  } catch (cause) {
    throw new SaltInvocationError(`The certificate cannot be read: ${(cause as Error).message}`)
  }
}

/** Parse a name as Node shows it: one part per line. Of several parts of one kind the last stays. */
export function namesOf(text: string): Record<string, string> {
  const parts = text.split('\n').filter((line) => line.includes('='))
  return Object.fromEntries(
    parts.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
}

/** Describe a certificate in Salt's words. */
export function describe(certificate: X509Certificate, withMd5: boolean) {
  const md5 = withMd5 ? { 'MD5 Finger Print': fingerprint(certificate, 'md5') } : {}
  const extensions = extensionsOf(certificate)
  return {
    Version: versionOf(certificate.raw),
    'Key Size': keySize(certificate.publicKey),
    'Serial Number': pairs(certificate.serialNumber),
    'SHA-256 Finger Print': certificate.fingerprint256,
    'SHA1 Finger Print': certificate.fingerprint,
    ...md5,
    Subject: namesOf(certificate.subject),
    Issuer: namesOf(certificate.issuer),
    'Not Before': timeText(certificate.validFrom),
    'Not After': timeText(certificate.validTo),
    'Public Key': publicPem(certificate.publicKey),
    ...(Object.keys(extensions).length > 0 && { 'X509v3 Extensions': extensions }),
  }
}

/** The extensions that Node reads. */
export function extensionsOf(certificate: X509Certificate): Record<string, string> {
  const { subjectAltName, ca, keyUsage } = certificate
  return {
    ...(ca && { basicConstraints: 'CA:TRUE' }),
    ...(subjectAltName && { subjectAltName }),
    ...(keyUsage && keyUsage.length > 0 && { extendedKeyUsage: keyUsage.join(', ') }),
  }
}

const BITS: Readonly<Record<string, number>> = {
  prime256v1: 256,
  secp256k1: 256,
  secp384r1: 384,
  secp521r1: 521,
}

/** Return the bits of a key; undefined for kinds that have none. */
export function keySize(key: KeyObject): number | undefined {
  const { modulusLength, namedCurve = '' } = key.asymmetricKeyDetails ?? {}
  return modulusLength ?? BITS[namedCurve]
}

export const publicPem = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString()

/** The public key of a certificate, or of a private or public key, of a text or a file. */
export async function publicKeyOf(given: string, passphrase: string | undefined): Promise<KeyObject> {
  const pem = await pemEntry(given)
  try {
    if (pem.startsWith('-----BEGIN CERTIFICATE-----')) return new X509Certificate(pem).publicKey
    return createPublicKey({ key: pem, format: 'pem', ...(passphrase !== undefined && { passphrase }) })
  } catch (cause) {
    throw new SaltInvocationError(`The key cannot be read: ${(cause as Error).message}`)
  }
}

/** Time in UTC, as `2026-01-31 12:00:00`. */
const timeText = (time: string): string => new Date(time).toISOString().slice(0, 19).replace('T', ' ')

/** Write hexadecimal digits in pairs. */
export function pairs(digits: string): string {
  const even = digits.length % 2 === 0 ? digits : `0${digits}`
  return (even.match(/../g) ?? []).join(':').toUpperCase()
}

function fingerprint(certificate: X509Certificate, type: 'md5'): string {
  return pairs(createHash(type).update(certificate.raw).digest('hex'))
}

/** Read the version from the DER of a certificate: two nested sequences begin it, and version 1 is left out. */
function versionOf(der: Buffer): number {
  const inner = contentAt(der, contentAt(der, 0))
  return der[inner] === 0xa0 ? (der[inner + 4] ?? 0) + 1 : 1
}

/** Return where the content of a DER value begins. */
function contentAt(der: Buffer, at: number): number {
  const length = der[at + 1] ?? 0
  return at + 2 + (length & 0x80 ? length & 0x7f : 0)
}
