import { isUtf8 } from 'node:buffer'

/** In bytes. Up to this length a loop is faster than a call into native code. */
const shortText = 16

/** Return `bytes[start, end)` as text; undefined if they are not valid UTF-8. */
export function textOf(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start <= shortText) {
    const text = shortAscii(bytes, start, end)
    if (text !== undefined) return text
  }
  return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : undefined
}

/** Return the bytes as text if all are ASCII, as almost every key and most values are. */
function shortAscii(bytes: Buffer, start: number, end: number): string | undefined {
  let text = ''
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    if (byte > 0x7f) return undefined
    text += String.fromCharCode(byte)
  }
  return text
}
