/** Extensions of certificates, requests and revocation lists, in the words of OpenSSL. */
import { type Der, inside, oidText, pairs, readDer, TAG } from './der.ts'
import { nameParts } from './names.ts'

export interface Extension {
  /** OpenSSL's short name; the number of one that has none here. */
  readonly name: string
  readonly isCritical: boolean
  readonly text: string
}

const NAMES: Readonly<Record<string, readonly [string, (value: Der) => string]>> = {
  '2.5.29.14': ['subjectKeyIdentifier', ({ content }) => pairsOf(content)],
  '2.5.29.15': ['keyUsage', usages],
  '2.5.29.17': ['subjectAltName', generalNames],
  '2.5.29.18': ['issuerAltName', generalNames],
  '2.5.29.19': ['basicConstraints', constraints],
  '2.5.29.20': ['crlNumber', ({ content }) => numberOf(content)],
  '2.5.29.21': ['CRLReason', ({ content }) => REASONS[content[0] ?? 0] ?? ''],
  '2.5.29.35': ['authorityKeyIdentifier', keyIdentifier],
  '2.5.29.37': ['extendedKeyUsage', purposes],
}

/** Read a list of extensions. The content of one that is not known is shown in hexadecimal digits. */
export function readExtensions(list: Der): Extension[] {
  return inside(list).map((one) => {
    const [kind, ...rest] = inside(one)
    const isCritical = rest[0]?.tag === TAG.boolean && rest[0].content[0] !== 0
    const value = rest.at(-1)
    const oid = kind ? oidText(kind) : ''
    const [name, text] = NAMES[oid] ?? [oid, ({ raw }: Der) => pairsOf(raw)]
    return { name, isCritical, text: value ? text(readDer(value.content)) : '' }
  })
}

const USAGES = [
  ...['Digital Signature', 'Non Repudiation', 'Key Encipherment', 'Data Encipherment', 'Key Agreement'],
  ...['Certificate Sign', 'CRL Sign', 'Encipher Only', 'Decipher Only'],
]

function usages({ content }: Der): string {
  const bytes = content.subarray(1)
  return USAGES.filter((_, at) => ((bytes[at >> 3] ?? 0) >> (7 - (at & 7))) & 1).join(', ')
}

const PURPOSES: Readonly<Record<string, string>> = {
  '1.3.6.1.5.5.7.3.1': 'TLS Web Server Authentication',
  '1.3.6.1.5.5.7.3.2': 'TLS Web Client Authentication',
  '1.3.6.1.5.5.7.3.3': 'Code Signing',
  '1.3.6.1.5.5.7.3.4': 'E-mail Protection',
  '1.3.6.1.5.5.7.3.8': 'Time Stamping',
  '1.3.6.1.5.5.7.3.9': 'OCSP Signing',
  '2.5.29.37.0': 'Any Extended Key Usage',
}

function purposes(value: Der): string {
  const names = inside(value).map(oidText)
  return names.map((oid) => PURPOSES[oid] ?? oid).join(', ')
}

function constraints(value: Der): string {
  const parts = inside(value)
  const isAuthority = parts.some(({ tag, content }) => tag === TAG.boolean && content[0] !== 0)
  const length = parts.find(({ tag }) => tag === TAG.integer)
  return `CA:${isAuthority ? 'TRUE' : 'FALSE'}${length ? `, pathlen:${numberOf(length.content)}` : ''}`
}

function generalNames(value: Der): string {
  return inside(value).map(generalName).join(', ')
}

function generalName(name: Der): string {
  const text = name.content.toString('latin1')
  switch (name.tag & 0x1f) {
    case 1:
      return `email:${text}`
    case 2:
      return `DNS:${text}`
    case 4:
      return `DirName:${partsText(nameParts(readDer(name.content)))}`
    case 6:
      return `URI:${text}`
    case 7:
      return `IP Address:${addressText(name.content)}`
    case 8:
      return `Registered ID:${oidText(name)}`
    default:
      return 'othername:<unsupported>'
  }
}

const partsText = (parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts)
    .map(([kind, value]) => `${kind} = ${value}`)
    .join(', ')

const addressText = (bytes: Buffer): string =>
  bytes.length === 4
    ? bytes.join('.')
    : Array.from({ length: bytes.length / 2 }, (_, at) =>
        bytes
          .readUInt16BE(at * 2)
          .toString(16)
          .toUpperCase(),
      ).join(':')

/** Show the issuer's key, as OpenSSL does where it is alone, and not the issuer's name and serial number. */
function keyIdentifier(value: Der): string {
  const key = inside(value).find(({ tag }) => (tag & 0x1f) === 0)
  return key ? pairsOf(key.content) : ''
}

const REASONS: Readonly<Record<number, string>> = {
  0: 'Unspecified',
  1: 'Key Compromise',
  2: 'CA Compromise',
  3: 'Affiliation Changed',
  4: 'Superseded',
  5: 'Cessation Of Operation',
  6: 'Certificate Hold',
  8: 'Remove From CRL',
  9: 'Privilege Withdrawn',
  10: 'AA Compromise',
}

const numberOf = (content: Buffer): string => String(BigInt(`0x${content.toString('hex') || '0'}`))
const pairsOf = (bytes: Buffer): string => pairs(bytes.toString('hex'))
