import { describe, expect, test } from 'vitest'
import { decode } from '../../../core/codec/index.ts'
import { isTrimmed, packTrimmed } from '../../../core/events/trim.ts'

const MAX = 10_000
const trim = (data: Record<string, unknown>) => decode(packTrimmed(data, MAX))
const text = (length: number) => 'x'.repeat(length)

describe('data of an event that is too large', () => {
  test('is not changed when it fits', () => {
    const data = { a: text(9_900), list: [1] }
    expect(trim(data)).toEqual(data)
  })

  test('loses values larger than half the size first, and keeps the others', () => {
    expect(trim({ id: 'm1', return: text(20_000), other: text(4_000) })).toEqual({
      id: 'm1',
      return: 'VALUE_TRIMMED',
      other: text(4_000),
    })
  })

  test('loses smaller ones when that is not enough', () => {
    const data = { a: text(4_500), b: text(4_500), c: text(4_500), small: text(800) }
    expect(trim(data)).toEqual({
      a: 'VALUE_TRIMMED',
      b: 'VALUE_TRIMMED',
      c: 'VALUE_TRIMMED',
      small: text(800),
    })
  })

  test('loses single values of nested maps, and arrays as a whole', () => {
    expect(trim({ return: { stdout: text(20_000), pid: 7 }, list: [text(20_000), 1] })).toEqual({
      return: { stdout: 'VALUE_TRIMMED', pid: 7 },
      list: 'VALUE_TRIMMED',
    })
  })

  test('loses whole maps that consist of many small values', () => {
    const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`key ${i}`, i]))
    expect(trim({ id: 'm1', return: many })).toEqual({ id: 'm1', return: 'VALUE_TRIMMED' })
  })

  test('is recognised as trimmed, unlike data that lost nothing', () => {
    const told = (data: Record<string, unknown>) => isTrimmed(trim(data))
    expect(told({ id: 'm1', return: { pid: 7, lines: [text(10)] } })).toBe(false)
    expect(told({ id: 'm1', return: text(20_000) })).toBe(true)
    expect(told({ id: 'm1', return: { stdout: text(20_000), pid: 7 } })).toBe(true)
  })

  test('is copied: the object of the caller is not changed', () => {
    const data = { return: { stdout: text(20_000) } }
    packTrimmed(data, MAX)
    expect(data.return.stdout.length).toBe(20_000)
  })
})
