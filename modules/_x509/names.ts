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

/** Return OpenSSL's hash of a name: the first four bytes of the SHA-1 of its canonical form, the last one first. */
export function nameHash(name: Der): string {
  const canonical = inside(name).map((set) =>
    encoded(0x31, Buffer.concat(inside(set).map(canonicalPart).sort(Buffer.compare))),
  )
  const digest = createHash('sha1').update(Buffer.concat(canonical)).digest()
  return digest
    .subarray(0, 4)
    .reverse()
    .toString('hex')
    .toUpperCase()
    .replace(/^0+(?=.)/, '')
}

const UTF8_STRING = 12
/** The kinds of strings that OpenSSL makes canonical; others stay as they are. */
const STRINGS = new Set([12, 19, 20, 22, 26, 28, 30])

function canonicalPart(part: Der): Buffer {
  const [kind, value] = inside(part)
  if (!kind || !value) return part.raw
  return encoded(0x30, Buffer.concat([kind.raw, STRINGS.has(value.tag) ? canonicalString(value) : value.raw]))
}

function canonicalString(value: Der): Buffer {
  const text = stringOf(value)
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  return encoded(UTF8_STRING, Buffer.from(text))
}

function encoded(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
