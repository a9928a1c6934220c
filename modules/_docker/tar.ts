/** Tar archives, which Docker takes and gives: the format ustar, with the records of pax for what does not fit into it. */

const BLOCK_BYTES = 512
const MAX_NAME_BYTES = 100
/** The largest size that eleven octal digits can say. */
const MAX_SIZE_BYTES = 8 ** 11 - 1
/** Records about a file, such as its long name, are read into memory. */
const MAX_RECORD_BYTES = 1024 * 1024

type Kind = 'file' | 'folder' | 'link'

export interface Member {
  readonly name: string
  readonly kind: Kind
  /** Permission bits. */
  readonly mode: number
  /** Bytes of its content. */
  readonly size: number
  /** When it was changed, seconds. */
  readonly mtime: number
  /** Where a symbolic link points to. */
  readonly target?: string
}

const TYPES: Readonly<Record<Kind, string>> = { file: '0', link: '2', folder: '5' }

/** Return the header of a member; its content follows, filled up by {@link padding}. It belongs to root. */
export function headerOf(member: Member): Buffer {
  const name = member.kind === 'folder' ? `${member.name}/` : member.name
  const { target = '' } = member
  const records = [
    ...(Buffer.byteLength(name) > MAX_NAME_BYTES ? [record('path', name)] : []),
    ...(Buffer.byteLength(target) > MAX_NAME_BYTES ? [record('linkpath', target)] : []),
    ...(member.size > MAX_SIZE_BYTES ? [record('size', String(member.size))] : []),
  ]
  const own = block({ ...member, name, target, type: TYPES[member.kind] })
  if (records.length === 0) return own
  const content = Buffer.concat(records)
  const before = { name: 'PaxHeader', target: '', mode: 0o644, mtime: 0, size: content.length, type: 'x' }
  return Buffer.concat([block(before), content, padding(content.length), own])
}

/** Return the zeros that fill up content of a size to whole blocks. */
export const padding = (size: number): Buffer =>
  Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES)

/** The end of an archive. */
export const TRAILER = Buffer.alloc(2 * BLOCK_BYTES)

/** A record of pax begins with its own length, in digits that count as well. */
function record(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`)
  let length = rest.length + 1
  while (rest.length + String(length).length !== length) length = rest.length + String(length).length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

interface Fields {
  readonly name: string
  readonly target: string
  readonly mode: number
  readonly size: number
  readonly mtime: number
  readonly type: string
}

const octal = (value: number, digits: number): string => {
  const limit = 8 ** digits - 1
  return Math.min(Math.max(Math.trunc(value), 0), limit)
    .toString(8)
    .padStart(digits, '0')
}

function block({ name, target, mode, size, mtime, type }: Fields): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES)
  header.write(octal(mode, 7), 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(mtime, 11), 136)
  header.write(type, 156)
  header.write('ustar\x0000', 257)
  Buffer.from(name).subarray(0, MAX_NAME_BYTES).copy(header)
  Buffer.from(target).subarray(0, MAX_NAME_BYTES).copy(header, 157)
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  return header
}

interface FirstFile {
  readonly mode: number
  readonly mtime: number
  /** Its bytes as they arrive. */
  readonly content: AsyncIterable<Buffer>
}

/** Read the only file of an archive; its content is not kept in memory. @throws Error if the archive is something else, or ends too early */
export async function onlyFile(archive: AsyncIterable<Buffer>): Promise<FirstFile> {
  const reader = new Pieces(archive)
  let size: number | undefined
  for (;;) {
    const header = await reader.exactly(BLOCK_BYTES)
    const type = String.fromCharCode(header[156]!)
    const own = numberAt(header, 124, 12)
    if (type === '0' || type === '\0')
      return {
        mode: numberAt(header, 100, 8),
        mtime: numberAt(header, 136, 12),
        content: reader.take(size ?? own),
      }
    if (!'xgLK'.includes(type) || own > MAX_RECORD_BYTES) throw new Error('it is no archive of one file')
    const content = await reader.exactly(own)
    await reader.exactly(padding(own).length)
    const [, long] = (type === 'x' && /(?:^|\n)\d+ size=(\d+)\n/.exec(content.toString())) || []
    if (long !== undefined) size = Number(long)
  }
}

/** Read a number: octal digits, or as base 256 if its first bit is set. */
function numberAt(header: Buffer, from: number, length: number): number {
  const field = header.subarray(from, from + length)
  if (field[0]! & 0x80) return field.subarray(1).reduce((total, byte) => total * 256 + byte, field[0]! & 0x7f)
  return Number.parseInt(field.toString('latin1').replace(/[\0 ].*$/s, '') || '0', 8)
}

/** Cuts a stream into pieces of wanted lengths. */
class Pieces {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async exactly(length: number): Promise<Buffer> {
    const pieces: Buffer[] = []
    for await (const piece of this.take(length)) pieces.push(piece)
    return Buffer.concat(pieces)
  }

  async *take(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (this.#rest.length === 0) await this.#next()
      const piece = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }

  async #next(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done) throw new Error('the archive ends too early')
    this.#rest = value
  }
}
