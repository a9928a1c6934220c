import { describe, expect, test } from 'vitest'
import { encodeLocal } from '../../../core/codec/index.ts'
import { decodeEvent, encodeEvent, tagOf } from '../../../core/events/event.ts'
import { FrameReader, packFrame } from '../../../core/events/frames.ts'
import { bytes, parseNote, vectors } from '../../harness/vectors.ts'

const noon = new Date('2026-11-20T12:00:00.125Z')

interface Recorded {
  frame_b64: string
  tag: string
  data: unknown
}
const recorded = vectors<Record<'master_bus' | 'minion_bus', Recorded[]>>('events')
const frames = [...recorded.master_bus, ...recorded.minion_bus]

describe('an event', () => {
  test('travels as tag, empty line and MessagePack with its time', () => {
    const body = encodeEvent('my/tag', { a: 1 }, noon)
    expect(body.toString('latin1')).toBe('my/tag\n\n\x82\xa1a\x01\xa6_stamp\xba2026-11-20T12:00:00.125000')
    expect(decodeEvent(body)).toEqual({ tag: 'my/tag', data: { a: 1, _stamp: '2026-11-20T12:00:00.125000' } })
  })

  test('has a time without fraction on the full second, as Python writes it', () => {
    const { data } = decodeEvent(encodeEvent('t', {}, new Date('2026-11-20T12:00:00Z')))
    expect(data).toEqual({ _stamp: '2026-11-20T12:00:00' })
  })

  test('gets a new time in place of a given one', () => {
    const { data } = decodeEvent(encodeEvent('t', { _stamp: 'old', a: 1 }, noon))
    expect(Object.entries(data)).toEqual([
      ['_stamp', '2026-11-20T12:00:00.125000'],
      ['a', 1],
    ])
  })

  test('cannot have an empty tag, nor one with an empty line', () => {
    for (const tag of ['', 'a\n\nb']) expect(() => encodeEvent(tag, {})).toThrow(/^The tag .* is not valid/)
  })

  test('is split at the first empty line', () => {
    expect(decodeEvent(encodeEvent('t', { text: 'x\n\ny' }, noon)).data.text).toBe('x\n\ny')
  })

  test('is refused without a tag, or with data that is no map', () => {
    const bodies = ['', 'no separator', '\n\n\x80', 't\n\n\x91\x01', 't\n\n', 't\n\n\xa1x']
    for (const body of bodies) expect(() => decodeEvent(Buffer.from(body, 'latin1'))).toThrow()
  })

  test('may have data whose keys are not text, or are names of Object', () => {
    const body = Buffer.concat([
      Buffer.from('t\n\n'),
      encodeLocal(
        new Map([
          [1, 'one'],
          ['constructor', 'x'],
        ] as never),
      ),
    ])
    expect(decodeEvent(body).data).toEqual({ 1: 'one', constructor: 'x' })
  })

  describe('as Salt writes it', () => {
    test.each(frames)('is read and written again without a change: $tag', ({ frame_b64, tag, data }) => {
      const frame = bytes(frame_b64)
      const [{ body } = { body: Buffer.alloc(0) }] = new FrameReader().push(frame)
      expect(tagOf(body)).toBe(tag)
      const event = decodeEvent(body)
      expect(event).toEqual({ tag, data: parseNote(data) })
      expect(packFrame(body).equals(frame)).toBe(true)
      const stamp = String(event.data._stamp)
      // Our clock has milliseconds only, and the fraction goes when they are zero.
      const at = new Date(`${stamp.replace('.000', '.001')}Z`)
      const inMilliseconds = `${at.toISOString().slice(0, -1)}000`
      const expected = Buffer.from(
        Buffer.from(body).toString('latin1').replaceAll(stamp, inMilliseconds),
        'latin1',
      )
      expect(encodeEvent(tag, event.data, at).equals(expected)).toBe(true)
    })
  })
})
