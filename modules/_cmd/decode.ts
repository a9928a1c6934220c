import { type Log, SaltInvocationError } from 'salt-ts'

const C1_IN_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

type Decode = (bytes: Buffer) => string

/**
 * Decode command output as UTF-8, else in the encoding of the system's locale, else as UTF-8 with U+FFFD for invalid
 * bytes. If `encoding` is given, only that one is used.
 */
export function decodeOutput(bytes: Buffer, encoding: string | undefined, log: Log): string {
  const strict = encoding === undefined ? ['utf-8', systemEncoding()] : [encoding]
  for (const name of strict) {
    try {
      return decoder(name, true)(bytes)
    } catch (cause) {
      if (cause instanceof SaltInvocationError) throw cause
    }
  }
  log.error('Failed to decode the output of a command: characters that could not be decoded were replaced')
  return decoder(encoding ?? 'utf-8', false)(bytes)
}

/** Refuse an unknown encoding before the command runs. @throws SaltInvocationError */
export function checkEncoding(encoding: string | undefined): void {
  if (encoding !== undefined) decoder(encoding, true)
}

function decoder(name: string, fatal: boolean): Decode {
  const label = name.toLowerCase().replaceAll('_', '-')
  // "latin1" is windows-1252 for TextDecoder, but ISO 8859-1 for Python, whose encoding names are used here.
  if (/^(latin-?1|iso-?8859-?1|l1)$/.test(label)) return (bytes) => bytes.toString('latin1')
  if (/^(us-)?ascii$/.test(label)) return ascii(fatal)
  if (/^(cp-?|windows-)1252$/.test(label)) return windows1252
  try {
    const known = new TextDecoder(label.replace(/^cp125/, 'windows-125'), { fatal, ignoreBOM: true })
    return (bytes) => known.decode(bytes)
  } catch {
    throw new SaltInvocationError(
      `output_encoding '${name}' is not supported; use for example utf-8, latin-1, cp1252, utf-16le or shift_jis`,
    )
  }
}

// Node 20 decodes windows-1252 as latin1.
const windows1252: Decode = (bytes) =>
  bytes.toString('latin1').replace(/[\x80-\x9f]/g, (char) => C1_IN_1252[char.charCodeAt(0) - 0x80]!)

function ascii(fatal: boolean): Decode {
  return (bytes) => {
    if (!bytes.some((byte) => byte > 127)) return bytes.toString('latin1')
    if (fatal) throw new TypeError('not ASCII')
    return bytes.toString('latin1').replace(/[\x80-\xff]/g, '\ufffd')
  }
}

function systemEncoding(): string {
  const locale = process.env.LC_ALL || process.env.LC_CTYPE || process.env.LANG || ''
  const charset = /\.([^@]+)/.exec(locale)?.[1] ?? 'utf-8'
  return /^(iso-?8859-?\d+|latin-?\d+|koi8-[ru]|cp125\d|euc-?jp|gbk|gb18030|big5)$/i.test(charset)
    ? charset
    : 'utf-8'
}
