import { CommandExecutionError } from 'salt-ts'

const LIMITS: Readonly<Record<string, number>> = {
  ascii: 0x7f,
  usascii: 0x7f,
  latin1: 0xff,
  iso88591: 0xff,
  l1: 0xff,
}
const UTF = ['utf8', 'utf16', 'utf16le', 'utf16be']

/** Encode a content by the name that Python has for the encoding. `errors`: `strict`, `ignore`, `replace`, `backslashreplace`, `xmlcharrefreplace`. */
export function encode(text: string, encoding: string, errors: string): Buffer {
  const name = encoding.toLowerCase().replace(/[-_\s]/g, '')
  if (Object.hasOwn(LIMITS, name))
    return Buffer.from(limited(text, LIMITS[name] as number, encoding, errors), 'latin1')
  if (!UTF.includes(name))
    throw new CommandExecutionError(
      `The encoding '${encoding}' is not supported; use utf-8, utf-16, latin-1 or ascii`,
    )
  if (name === 'utf8') return Buffer.from(text)
  const bytes = Buffer.from(name === 'utf16' ? `\ufeff${text}` : text, 'utf16le')
  return name === 'utf16be' ? bytes.swap16() : bytes
}

function limited(text: string, limit: number, encoding: string, errors: string): string {
  return Array.from(text, (character) => {
    const code = character.codePointAt(0) as number
    return code <= limit ? character : instead(code, encoding, errors)
  }).join('')
}

function instead(code: number, encoding: string, errors: string): string {
  const hex = code.toString(16)
  if (errors === 'ignore') return ''
  if (errors === 'replace') return '?'
  if (errors === 'xmlcharrefreplace') return `&#${code};`
  if (errors === 'backslashreplace')
    return code > 0xffff
      ? `\\U${hex.padStart(8, '0')}`
      : code > 0xff
        ? `\\u${hex.padStart(4, '0')}`
        : `\\x${hex}`
  throw new CommandExecutionError(
    `The character U+${hex.toUpperCase().padStart(4, '0')} cannot be written as ${encoding}; choose another encoding, or set encoding_errors`,
  )
}
