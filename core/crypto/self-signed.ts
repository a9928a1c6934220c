import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { parseAddress } from '../base/net/ip-network.ts'

/** A certificate and its private key as PEM text. */
interface CertificateAndKey {
  readonly cert: string
  readonly key: string
}

const DAY_MS = 86_400_000

/**
 * Make a self-signed certificate for a TLS server (RFC 5280, ECDSA on P-256). `names` are host names and addresses.
 */
export function makeSelfSignedCertificate(
  names: readonly string[],
  { days, now = Date.now() }: { days: number; now?: number },
): CertificateAndKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subject = sequence(setOf(sequence(oid(COMMON_NAME), utf8(names[0] ?? 'localhost'))))
  const toBeSigned = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(serialNumber()),
    sequence(oid(ECDSA_WITH_SHA256)),
    subject,
    sequence(time(now - DAY_MS), time(now + days * DAY_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions(names, publicKey))),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const der = sequence(toBeSigned, sequence(oid(ECDSA_WITH_SHA256)), bits(signature, 0))
  const base64 = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

/** Object identifiers, as DER in hex. */
const COMMON_NAME = '550403'
const ECDSA_WITH_SHA256 = '2a8648ce3d040302'
const SUBJECT_KEY_ID = '551d0e'
const KEY_USAGE = '551d0f'
const SUBJECT_ALT_NAME = '551d11'
const BASIC_CONSTRAINTS = '551d13'
const EXTENDED_KEY_USAGE = '551d25'
const SERVER_AUTH = '2b06010505070301'

function extensions(names: readonly string[], publicKey: KeyObject): Buffer[] {
  const keyId = createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
  return [
    critical(BASIC_CONSTRAINTS, sequence()),
    critical(KEY_USAGE, bits(Buffer.from([0x80]), 7)),
    extension(EXTENDED_KEY_USAGE, sequence(oid(SERVER_AUTH))),
    extension(SUBJECT_ALT_NAME, sequence(...names.map(generalName))),
    extension(SUBJECT_KEY_ID, tagged(0x04, keyId)),
  ]
}

const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), tagged(0x04, value))
const critical = (id: string, value: Buffer): Buffer =>
  sequence(oid(id), Buffer.from('0101ff', 'hex'), tagged(0x04, value))

function generalName(name: string): Buffer {
  const address = parseAddress(name)
  if (!address) return tagged(0x82, Buffer.from(name, 'ascii'))
  const digits = address.version === 4 ? 8 : 32
  return tagged(0x87, Buffer.from(address.bits.toString(16).padStart(digits, '0'), 'hex'))
}

/** Return a random positive serial number. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16)
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

/** Encode a time; with two digits of the year up to 2049 (RFC 5280 §4.1.2.5). */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')
  return text < '2050' ? tagged(0x17, Buffer.from(text.slice(2))) : tagged(0x18, Buffer.from(text))
}

const sequence = (...members: readonly Uint8Array[]): Buffer => tagged(0x30, Buffer.concat(members))
const setOf = (member: Buffer): Buffer => tagged(0x31, member)
const oid = (hex: string): Buffer => tagged(0x06, Buffer.from(hex, 'hex'))
const integer = (bytes: Buffer): Buffer => tagged(0x02, bytes)
const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text))
const bits = (bytes: Buffer, unused: number): Buffer =>
  tagged(0x03, Buffer.concat([Buffer.from([unused]), bytes]))

/** Encode tag, length and content in DER. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const size = Buffer.from(length.toString(16).padStart(length < 0x100 ? 2 : 4, '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | size.length]), size, content])
}
