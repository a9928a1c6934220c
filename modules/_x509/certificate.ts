import { createHash, createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import { SaltInvocationError } from 'salt-ts'
import { type Der, inside, pairs, readDer, timeText } from './der.ts'
import { type Extension, readExtensions } from './extensions.ts'
import { nameHash, subjectParts } from './names.ts'
import { pemEntry } from './pem.ts'
import { requestKey } from './requests.ts'

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

/** Describe a certificate in Salt's words. @throws SaltInvocationError for one with a key or times that cannot be read */
export function describe(certificate: X509Certificate, withMd5: boolean) {
  try {
    return factsOf(certificate, withMd5)
  } catch (cause) {
    throw new SaltInvocationError(`The certificate cannot be read: ${(cause as Error).message}`)
  }
}

function factsOf(certificate: X509Certificate, withMd5: boolean) {
  const md5 = withMd5 ? { 'MD5 Finger Print': fingerprint(certificate, 'md5') } : {}
  const extensions = extensionsOf(certificate)
  const { issuer, subject } = namesIn(certificate)
  return {
    Version: versionOf(certificate.raw),
    'Key Size': keySize(certificate.publicKey),
    'Serial Number': pairs(certificate.serialNumber),
    'SHA-256 Finger Print': certificate.fingerprint256,
    'SHA1 Finger Print': certificate.fingerprint,
    ...md5,
    Subject: subjectParts(subject),
    'Subject Hash': pairs(nameHash(subject)),
    Issuer: subjectParts(issuer),
    'Issuer Hash': pairs(nameHash(issuer)),
    'Not Before': timeText(new Date(certificate.validFrom)),
    'Not After': timeText(new Date(certificate.validTo)),
    'Public Key': publicPem(certificate.publicKey),
    ...(extensions.length > 0 && { 'X509v3 Extensions': Object.fromEntries(extensions.map(marked)) }),
  }
}

const marked = ({ name, isCritical, text }: Extension) => [name, isCritical ? `critical ${text}` : text]

/** The parts of a certificate that is signed, without its version. */
function signedParts({ raw }: X509Certificate): Der[] {
  const [signed] = inside(readDer(raw))
  const parts = signed ? inside(signed) : []
  return parts[0]?.tag === TAGGED_VERSION ? parts.slice(1) : parts
}

const TAGGED_VERSION = 0xa0
const TAGGED_EXTENSIONS = 0xa3

function namesIn(certificate: X509Certificate): { issuer: Der; subject: Der } {
  const [, , issuer, , subject] = signedParts(certificate)
  if (!issuer || !subject) throw new SaltInvocationError('The certificate cannot be read: it has no names')
  return { issuer, subject }
}

/** The extensions of a certificate, in the words of OpenSSL. */
export function extensionsOf(certificate: X509Certificate): Extension[] {
  const tagged = signedParts(certificate).find(({ tag }) => tag === TAGGED_EXTENSIONS)
  const [list] = tagged ? inside(tagged) : []
  return list ? readExtensions(list) : []
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
    if (pem.startsWith('-----BEGIN CERTIFICATE REQUEST-----')) return requestKey(pem)
    return createPublicKey({ key: pem, format: 'pem', ...(passphrase !== undefined && { passphrase }) })
  } catch (cause) {
    throw new SaltInvocationError(`The key cannot be read: ${(cause as Error).message}`)
  }
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
