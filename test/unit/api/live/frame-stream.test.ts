import { beforeEach, expect, test } from 'vitest'
import { type FrameBatch, type FrameSink, FrameStream } from '../../../../core/api/live/frame-stream.ts'
import { EventFrame, type Frame } from '../../../../core/api/live/frames.ts'

let stream: FrameStream<Frame>

beforeEach(() => {
  stream = new FrameStream({ maxBacklog: 1_000_000, maxStallMs: 1000 })
})

/** A sink that accepts a batch on request. */
class Reader implements FrameSink<Frame> {
  readonly batches: FrameBatch<Frame>[] = []
  dropped: string | undefined
  #done: (() => void) | undefined

  write(batch: FrameBatch<Frame>, done: () => void): void {
    if (this.#done) throw new Error('It was written to before it had taken the last.')
    this.batches.push(batch)
    this.#done = done
  }

  drop(reason: string): void {
    this.dropped = reason
  }

  take(): void {
    const done = this.#done
    this.#done = undefined
    done?.()
  }

  get tags(): (string | undefined)[] {
    return this.batches.flatMap(({ frames }) => frames.map(({ tag }) => tag))
  }
}

const push = (tag: string, size = 10) =>
  stream.push(new EventFrame({ tag, data: { text: 'x'.repeat(size) } }))

test('readers get every frame once and in order, however slowly they take them', () => {
  const readers = [new Reader(), new Reader()]
  for (const reader of readers) stream.add(reader)
  for (let n = 0; n < 10; n++) {
    push(String(n))
    stream.flush()
    if (n % 3 === 0) readers[0]?.take()
  }
  for (let n = 0; n < 5; n++) for (const reader of readers) reader.take()
  const all = Array.from({ length: 10 }, (_, n) => String(n))
  expect(readers.map(({ tags }) => tags)).toEqual([all, all])
})

test('readers at the same position get the very same bytes', () => {
  const readers = [new Reader(), new Reader()]
  for (const reader of readers) stream.add(reader)
  push('a')
  push('b')
  stream.flush()
  const [one, other] = readers.map(({ batches }) => batches[0]?.sse)
  expect(one).toBe(other)
  expect(one?.toString()).toMatch(/^tag: a\ndata: .*\n\ntag: b\ndata: .*\n\n$/)
})

test('a reader too far behind is dropped, and the others get all frames', () => {
  const [frozen, reader] = [new Reader(), new Reader()]
  stream.add(frozen)
  stream.add(reader)
  for (let n = 0; n < 20; n++) {
    push(String(n), 100_000)
    stream.flush()
    reader.take()
  }
  expect(frozen.dropped).toBe('It was more than 0.95 MiB of events behind.')
  expect(reader.dropped).toBeUndefined()
  expect(reader.tags).toHaveLength(20)
  expect([stream.readers, stream.dropped]).toEqual([1, 1])
})

test('a reader that takes nothing for a long time is dropped although there are few events', () => {
  const reader = new Reader()
  stream.add(reader)
  push('a')
  stream.flush()
  stream.dropStalled(performance.now() + 900)
  expect(reader.dropped).toBeUndefined()
  stream.dropStalled(performance.now() + 1100)
  expect(reader.dropped).toBe('It has read nothing for 1 s.')
})

test('events that a reader did not subscribe to are not written to it', () => {
  const reader = new Reader()
  stream.add(reader, ({ tag }) => tag === 'b')
  for (const tag of ['a', 'b', 'c']) push(tag)
  stream.flush()
  reader.take()
  expect(reader.tags).toEqual(['b'])
})

test('a tag cannot begin a new line in the stream', () => {
  const frame = new EventFrame({ tag: 'a\ndata: {}\r\nevent: x', data: {} })
  expect(frame.sse.toString().split('\n').slice(0, 2)).toEqual([
    'tag: a data: {} event: x',
    expect.stringMatching(/^data: \{"tag": "a\\ndata/),
  ])
})

test('bytes, large numbers and floats are shown as in other answers', () => {
  const data = { bytes: new Uint8Array([104, 105, 255]), large: 2n ** 63n, float: 3.5 }
  expect(new EventFrame({ tag: 't', data }).plain.toString()).toBe(
    '{"tag": "t", "data": {"bytes": "hi\ufffd", "large": 9223372036854775808, "float": 3.5}}',
  )
})
