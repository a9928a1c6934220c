import { describe, expect, test } from 'vitest'
import { decode, decodeRaw, encodeLocal, StreamDecoder } from '../../core/codec/index.ts'
import { bytes, parseNote, vectors } from '../harness/vectors.ts'
import { bytesOf } from './recorded.ts'

interface RecordedEvent {
  scenario?: string | null
  frame_b64: string
  tag: string
  data: unknown
}

type Buses = Record<'master_bus' | 'minion_bus', RecordedEvent[]>

const generation2 = vectors<Buses>('events')
const generation3 = vectors<{ events: Buses }>('generation-3').events
const buses = [
  { bus: 'generation 2 master', events: generation2.master_bus },
  { bus: 'generation 2 minion', events: generation2.minion_bus },
  { bus: 'generation 3 master', events: generation3.master_bus },
  { bus: 'generation 3 minion', events: generation3.minion_bus },
]

describe('events recorded from Salt', () => {
  describe.each(buses)('on the bus of a $bus', ({ events }) => {
    test.each(events)('$tag of the scenario $scenario', (event) => {
      const { head, body } = decodeRaw(bytes(event.frame_b64)) as { head: object; body: Buffer }
      expect(head).toEqual({})
      const [tag, data] = parted(body)
      expect(tag).toBe(event.tag)
      expect(decode(data)).toStrictEqual(parseNote(event.data))
      expect(encodeLocal(decode(data)).toString('hex')).toBe(data.toString('hex'))
      expect(encodeLocal({ head, body }).equals(bytes(event.frame_b64))).toBe(true)
    })

    test('all of them are decoded from one stream, wherever it is cut', () => {
      const stream = Buffer.concat(events.map((event) => bytes(event.frame_b64)))
      const decoder = new StreamDecoder(decodeRaw)
      const bodies = chunksOf(stream, 997).flatMap((chunk) => decoder.push(chunk)) as { body: Buffer }[]
      expect(bodies.map(({ body }) => parted(bytesOf(body))[0])).toEqual(events.map((event) => event.tag))
    })
  })
})

function parted(body: Buffer): [tag: string, data: Buffer] {
  const end = body.indexOf('\n\n')
  return [body.toString('utf8', 0, end), body.subarray(end + 2)]
}

function chunksOf(stream: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(stream.length / size) }, (_, i) =>
    stream.subarray(i * size, (i + 1) * size),
  )
}
