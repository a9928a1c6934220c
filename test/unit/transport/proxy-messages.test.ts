/** What the proxy and its workers send each other: requests and answers of a turn of the event loop in one message. */
import { expect, test } from 'vitest'
import { TurnBatch } from '../../../core/transport/proxy/batch.ts'
import { type Numbered, numberedFrames, readNumbered } from '../../../core/transport/proxy/messages.ts'
import { SLOW } from '../../harness/slow.ts'

const sent = (messages: readonly Numbered[]) => {
  const [first, second] = numberedFrames(messages).map((frame) => Buffer.from(frame as string))
  return [...readNumbered(first, second)].map(({ id, payload }) => [id, String(payload)])
}

test.each([[['one']], [['one', '', 'three']], [['', '']]])(
  'messages are decoded as they were sent: %j',
  (texts) => {
    const messages = texts.map((text, index) => ({ id: 2 ** 40 + index, payload: Buffer.from(text) }))
    expect(sent(messages)).toEqual(messages.map(({ id, payload }) => [id, String(payload)]))
  },
)

test('messages of one turn are sent together, a large one separately', SLOW, async () => {
  const batches: (string | Uint8Array)[][] = []
  const batch = new TurnBatch(async (frames) => void batches.push(frames))
  const large = Buffer.alloc(100_000)
  for (const id of [1, 2]) batch.add({ id, payload: Buffer.from('x') })
  batch.add({ id: 3, payload: large })
  expect(batches).toEqual([['3', large]])
  await new Promise((done) => setImmediate(done))
  expect(batches).toHaveLength(2)
  const [packed] = batches[1] ?? []
  expect([...readNumbered(packed as Buffer, undefined)].map(({ id }) => id)).toEqual([1, 2])
  batch.add({ id: 4, payload: Buffer.from('y') })
  await batch.flush()
  expect(batches).toHaveLength(3)
})
