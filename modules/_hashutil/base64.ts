import { CommandExecutionError } from 'salt-ts'

const LINE = 76

/** Encode as Python's `base64.encodebytes` does: lines of 76 characters, each with a line break. */
export function encodeLines(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll(new RegExp(`.{1,${LINE}}`, 'g'), '$&\n')
}

/**
 * Decode as Python does: characters that are not of the alphabet are skipped, and what follows the padding is not read.
 *
 * @throws CommandExecutionError with Python's text for a text that is cut short
 */
export function decode(text: string): Buffer {
  const characters = text.replaceAll(/[^A-Za-z0-9+/=]/g, '')
  const [, data = '', padding = ''] = /^([^=]*)(=*)/.exec(characters) ?? []
  const extra = data.length % 4
  if (extra === 1) {
    throw new CommandExecutionError(
      `Invalid base64-encoded string: number of data characters (${data.length}) cannot be 1 more than a multiple of 4`,
    )
  }
  if (extra > 0 && extra + padding.length < 4) throw new CommandExecutionError('Incorrect padding')
  return Buffer.from(data, 'base64')
}
