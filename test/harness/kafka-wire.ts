/** Kafka's primitive types, and the records of an uncompressed batch (magic 2). */

export const int8 = (value: number): Buffer => Buffer.of(value)

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

export function int64(value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}

export const sized = (bytes: Buffer): Buffer => Buffer.concat([int32(bytes.length), bytes])

export const text = (value: string | null): Buffer =>
  value === null ? int16(-1) : Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)])

export const array = (members: readonly Buffer[]): Buffer =>
  Buffer.concat([int32(members.length), ...members])

/** Throws a RangeError at the end of the bytes. */
export class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  skip(length: number): void {
    this.#at += length
  }

  int16(): number {
    this.#at += 2
    return this.#bytes.readInt16BE(this.#at - 2)
  }

  int32(): number {
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  int64(): bigint {
    this.#at += 8
    return this.#bytes.readBigInt64BE(this.#at - 8)
  }

  take(length: number): Buffer {
    this.#at += Math.max(length, 0)
    return this.#bytes.subarray(this.#at - Math.max(length, 0), this.#at)
  }

  /** Empty for null, as of clients without a name. */
  text(): string {
    return this.take(this.int16()).toString()
  }

  bytes(): Buffer {
    return this.take(this.int32())
  }

  nullableArray<T>(member: () => T): T[] | undefined {
    const length = this.int32()
    return length < 0 ? undefined : Array.from({ length }, member)
  }

  array<T>(member: () => T): T[] {
    return this.nullableArray(member) ?? []
  }

  varint(): number {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.#bytes.readUInt8(this.#at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return Number((value >> 1n) ^ -(value & 1n))
  }
}

export interface KafkaRecord {
  readonly key: string
  readonly value: string
  readonly headers: Readonly<Record<string, string>>
}

const BATCH_HEADER = 57

export function recordsOf(batch: Buffer): KafkaRecord[] {
  const reader = new Reader(batch)
  reader.skip(BATCH_HEADER)
  return reader.array(() => {
    reader.varint() // Length.
    reader.skip(1) // Attributes.
    reader.varint() // Time.
    reader.varint() // Offset.
    const field = () => reader.take(reader.varint()).toString()
    const [key, value] = [field(), field()]
    const headers = Array.from({ length: reader.varint() }, () => [field(), field()] as const)
    return { key, value, headers: Object.fromEntries(headers) }
  })
}
