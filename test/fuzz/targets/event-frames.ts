/** The event bus (wire protocol §11): streams of frames, the events in them, and what is trimmed from large ones. */
import { decode, encodeLocal } from '../../../core/codec/index.ts'
import { decodeEvent, encodeEvent, readEvent, tagOf } from '../../../core/events/event.ts'
import { FrameReader, packFrame } from '../../../core/events/frames.ts'
import { isReservedTag } from '../../../core/events/reserved-tags.ts'
import { isTrimmed } from '../../../core/events/trim.ts'
import { recordedMessages } from '../recorded.ts'
import { must, outcomeOf, type Target } from '../target.ts'

const now = new Date('2026-11-20T12:00:00.125Z')
const SMALL = 200

/** The frames of a stream, pushed in pieces, and the events in them. */
function framed(bytes: Buffer): string {
  const size = 1 + ((bytes[0] ?? 0) % 13)
  const reader = new FrameReader()
  const found: string[] = []
  const outcome = outcomeOf(() => {
    for (let at = 0; at < bytes.length; at += size)
      for (const { body } of reader.push(bytes.subarray(at, at + size))) found.push(eventIn(body))
    return 'stream'
  }, ['DECODE_FAILED'])
  return `${outcome} ${[...new Set(found)]}`
}

const eventIn = (body: Uint8Array): string =>
  outcomeOf(() => {
    const { tag, event } = readEvent(body)
    must(tag === tagOf(body) && tag !== '', 'A tag is read in two ways')
    const { data } = event()
    must(decodeEvent(body).tag === tag, 'An event has another tag than its body')
    return travelled(tag, data)
  }, ['DECODE_FAILED'])

/** Send the event again: its data arrive as they are, but for what is trimmed. */
function travelled(tag: string, data: object): string {
  isReservedTag(tag, 'wire1')
  const whole = encodeEvent(tag, data, now)
  const arrived = decodeEvent(whole)
  const { _stamp, ...rest } = arrived.data
  const { _stamp: before, ...sent } = data as Record<string, unknown>
  must(arrived.tag === tag, 'A tag did not survive')
  must(
    encodeLocal(rest).equals(encodeLocal(decode(encodeLocal(sent)))),
    'The data of an event did not survive',
  )
  const [frame] = new FrameReader().push(packFrame(whole, true))
  must(frame?.confirm === true && Buffer.from(frame.body).equals(whole), 'A frame did not survive')
  const trimmed = decodeEvent(encodeEvent(tag, data, now, SMALL))
  return isTrimmed(trimmed.data) ? 'trimmed' : 'event'
}

const ways: readonly ((bytes: Buffer) => string)[] = [
  framed,
  eventIn,
  (message) => framed(packFrame(Buffer.concat([Buffer.from('my/tag\n\n'), message]))),
]

const seeded = (way: number, messages: readonly Uint8Array[]): Buffer[] =>
  messages.map((message) => Buffer.concat([Buffer.from([way]), message]))
const recorded = recordedMessages('events', ['frame_b64'])
const data = {
  id: 'wire1',
  list: ['x'.repeat(100), 1],
  nested: { text: 'x'.repeat(150) },
  bytes: Buffer.alloc(20, 0xff),
}

const seeds = [
  ...seeded(0, recorded.slice(0, 20)),
  ...seeded(0, [Buffer.concat(recorded.slice(0, 3)), packFrame(encodeEvent('a', { b: 1 }, now))]),
  ...seeded(1, [encodeEvent('salt/job/1/ret/wire1', data, now), Buffer.from('t\n\n\x80', 'latin1')]),
  ...seeded(2, [encodeLocal(data), encodeLocal({ _stamp: 'x' }), encodeLocal(new Map([[1, data]]))]),
]

export default (): Target => ({ form: 'message', choices: [ways.length], seeds, run })

function run(input: Buffer): string {
  const way = (input[0] ?? 0) % ways.length
  return `${way} ${ways[way]?.(input.subarray(1))}`
}
