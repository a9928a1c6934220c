/**
 * Find one file in an archive of cpio in the "new" format, which rpm2cpio writes, as its bytes come in. Resolves with
 * undefined if it is not there, or is larger than `limit`.
 */
export async function fileInCpio(
  chunks: AsyncIterable<Buffer>,
  wanted: string,
  limit: number,
): Promise<Buffer | undefined> {
  const reader = new Reader(chunks)
  for (;;) {
    const header = await reader.take(HEADER_BYTES)
    if (header?.toString('latin1', 0, 5) !== '07070') return undefined
    const [size, nameSize] = [field(header, SIZE_FIELD), field(header, NAME_FIELD)]
    const name = (await reader.take(padded(HEADER_BYTES + nameSize) - HEADER_BYTES))?.toString(
      'utf8',
      0,
      nameSize - 1,
    )
    if (name === undefined || name === 'TRAILER!!!') return undefined
    if (name.replace(/^\.?\/*/, '/') !== wanted) await reader.skip(padded(size))
    else return size > limit ? undefined : (await reader.take(padded(size)))?.subarray(0, size)
  }
}

const HEADER_BYTES = 110
const SIZE_FIELD = 6
const NAME_FIELD = 11
const field = (header: Buffer, index: number): number =>
  Number.parseInt(header.toString('latin1', 6 + index * 8, 14 + index * 8), 16)
const padded = (bytes: number): number => Math.ceil(bytes / 4) * 4

class Reader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  async take(bytes: number): Promise<Buffer | undefined> {
    const parts = [this.#rest]
    let have = this.#rest.length
    while (have < bytes) {
      const { done, value } = await this.#chunks.next()
      if (done) return undefined
      parts.push(value)
      have += value.length
    }
    const joined = Buffer.concat(parts)
    this.#rest = joined.subarray(bytes)
    return joined.subarray(0, bytes)
  }

  async skip(bytes: number): Promise<void> {
    let left = bytes - this.#rest.length
    if (left <= 0) {
      this.#rest = this.#rest.subarray(bytes)
      return
    }
    while (left > 0) {
      const { done, value } = await this.#chunks.next()
      if (done) return
      this.#rest = value.length > left ? value.subarray(left) : Buffer.alloc(0)
      left -= value.length
    }
  }
}
