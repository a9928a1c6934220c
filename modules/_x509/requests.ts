/** Requests for certificates, and lists of certificates that were revoked. */
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { SaltInvocationError } from 'salt-ts'
import { type Der, inside, oidText, pairs, readDer, TAG, timeOf, timeText } from './der.ts'
import { type Extension, readExtensions } from './extensions.ts'
import { nameHash, subjectParts } from './names.ts'
import { derOf, pemEntry } from './pem.ts'
import { algorithmOf } from './signature.ts'

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

/** Describe a request in Salt's words. */
export async function readRequest(given: string) {
  const [info] = inside(readDer(derOf(await pemEntry(given, 'CERTIFICATE REQUEST'))))
  const [version, subject, key, attributes] = info ? inside(info) : []
  if (!version || !subject || !key)
    throw new SaltInvocationError('The request cannot be read: a part is missing')
  return {
    Version: (version.content[0] ?? 0) + 1,
    Subject: subjectParts(subject),
    'Subject Hash': pairs(nameHash(subject)),
    'Public Key Hash': createHash('sha1').update(modulusOf(key)).digest('hex'),
    'X509v3 Extensions': textsOf(attributes ? requested(attributes) : []),
  }
}

/** Return the public key that a request is for. */
export function requestKey(pem: string): KeyObject {
  const [info] = inside(readDer(derOf(pem)))
  const key = info && inside(info)[2]
  if (!key) throw new SaltInvocationError('The request cannot be read: it has no key')
  return createPublicKey({ key: key.raw, format: 'der', type: 'spki' })
}

/** Describe a revocation list in Salt's words. */
export async function readRevocations(given: string) {
  const list = await revocationList(given)
  const [data] = inside(list)
  const parts = data ? inside(data) : []
  const version = parts[0]?.tag === TAG.integer ? parts.shift() : undefined
  const [, issuer, last, ...more] = parts
  if (!issuer || !last) throw new SaltInvocationError('The revocation list cannot be read: a part is missing')
  const next = more[0] && more[0].tag !== TAG.sequence && more[0].tag < 0x80 ? more.shift() : undefined
  const revoked = more[0]?.tag === TAG.sequence ? inside(more[0]) : []
  return {
    ...(version && { Version: `${(version.content[0] ?? 0) + 1} (0x${version.content[0] ?? 0})` }),
    'Signature Algorithm': algorithmOf(list),
    Issuer: subjectParts(issuer),
    'Last Update': timeText(timeOf(last)),
    ...(next && { 'Next Update': timeText(timeOf(next)) }),
    'Revoked Certificates': revoked.map(revocation),
  }
}

/** Read the DER of a revocation list, of a text or a file. */
export async function revocationList(given: string): Promise<Der> {
  return readDer(derOf(await pemEntry(given, 'X509 CRL')))
}

/** OpenSSL's title of the only extension of entries that most lists have. */
const TITLES: Readonly<Record<string, string>> = { CRLReason: 'X509v3 CRL Reason Code' }

function revocation(entry: Der) {
  const [serial, time, extensions] = inside(entry)
  const number = serial?.content.toString('hex').toUpperCase() ?? ''
  const told = extensions ? readExtensions(extensions) : []
  return {
    [number.replace(/^00(?=.)/, '')]: {
      ...(time && { 'Revocation Date': timeText(timeOf(time)) }),
      ...(told.length > 0 && {
        'CRL entry extensions': Object.fromEntries(
          told.map(({ name, text }) => [TITLES[name] ?? name, text]),
        ),
      }),
    },
  }
}

/** Find the extensions among the attributes of a request. */
function requested(attributes: Der): Extension[] {
  for (const attribute of inside(attributes)) {
    const [kind, values] = inside(attribute)
    const [list] = values ? inside(values) : []
    if (kind && list && oidText(kind) === EXTENSION_REQUEST) return readExtensions(list)
  }
  return []
}

export const textsOf = (extensions: readonly Extension[]): Record<string, string> =>
  Object.fromEntries(extensions.map(({ name, text }) => [name, text]))

/** Return the modulus of an RSA key as Salt hashes it: in hexadecimal digits; of another key all of it. */
function modulusOf(key: Der): string {
  const bits = inside(key)[1]
  const [modulus] =
    bits && inside(key)[0]?.content.includes(RSA) ? inside(readDer(bits.content.subarray(1))) : []
  const bytes = modulus?.content ?? bits?.content ?? Buffer.alloc(0)
  return bytes.toString('hex').toUpperCase().replace(/^00/, '')
}

/** The object identifier rsaEncryption. */
const RSA = Buffer.from('2a864886f70d010101', 'hex')
