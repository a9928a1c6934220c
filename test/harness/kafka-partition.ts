import { type KafkaRecord, recordsOf } from './kafka-wire.ts'

/** Where the fields of a batch are (magic 2), in bytes. */
const LAST_OFFSET_DELTA = 23
const PRODUCER_ID = 43
const BASE_SEQUENCE = 53

interface Written {
  readonly first: number
  readonly last: number
  readonly offset: number
}

/** Batches as they came, each with the offset of its first record. */
export class Partition {
  readonly #batches: { readonly offset: number; readonly bytes: Buffer }[] = []
  /** Of each producer with an id what it wrote last, as brokers remember it (KIP-98). */
  readonly #producers = new Map<bigint, readonly Written[]>()
  next = 0

  /** Its offset, which is that of before for a batch that was there; undefined if one is missing before it. */
  append(batch: Buffer): number | undefined {
    const offset = this.next
    const producer = batch.readBigInt64BE(PRODUCER_ID)
    const first = batch.readInt32BE(BASE_SEQUENCE)
    const last = first + batch.readInt32BE(LAST_OFFSET_DELTA)
    if (producer >= 0n) {
      const had = this.#producers.get(producer) ?? []
      const same = had.find((one) => one.first === first && one.last === last)
      if (same) return same.offset
      if (first !== (had.at(-1)?.last ?? -1) + 1) return undefined
      this.#producers.set(producer, [...had.slice(-4), { first, last, offset }])
    }
    const bytes = Buffer.from(batch)
    bytes.writeBigInt64BE(BigInt(offset), 0)
    this.#batches.push({ offset, bytes })
    this.next += last - first + 1
    return offset
  }

  /** With the record of this offset; empty at the end. */
  batchAt(offset: number): Buffer {
    const found = offset < this.next && this.#batches.findLast((batch) => batch.offset <= offset)
    return found ? found.bytes : Buffer.alloc(0)
  }

  get records(): readonly KafkaRecord[] {
    return this.#batches.flatMap(({ bytes }) => recordsOf(bytes))
  }
}
