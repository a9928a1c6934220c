import { expect, test } from 'vitest'
import {
  compareVersions,
  joinVersions,
  nextVersion,
  readVersion,
  type Version,
} from '../../../../core/master/cluster/version.ts'

test.each<[Version, Version, string]>([
  [{ a: 1 }, { a: 1 }, 'same'],
  [{ a: 1, b: 0 }, { a: 1 }, 'same'],
  [{ a: 2 }, { a: 1 }, 'later'],
  [{ a: 1, b: 1 }, { a: 1 }, 'later'],
  [{ a: 1 }, { a: 1, b: 1 }, 'earlier'],
  [{ a: 9 }, { b: 1 }, 'concurrent'],
  [{ a: 2, b: 1 }, { a: 1, b: 2 }, 'concurrent'],
  [{}, { constructor: 1 }, 'earlier'],
])('%j beside %j is %s', (version, other, order) => {
  expect(compareVersions(version, other)).toBe(order)
})

test('a joined version comes after both, and the next one after the last', () => {
  const [one, other] = [
    { a: 2, b: 1 },
    { a: 1, c: 3 },
  ]
  const both = joinVersions(one, other)
  expect(both).toEqual({ a: 2, b: 1, c: 3 })
  expect(nextVersion(both, 'c')).toEqual({ a: 2, b: 1, c: 4 })
  expect(nextVersion(both, 'd')).toEqual({ a: 2, b: 1, c: 3, d: 1 })
})

test.each([undefined, null, 3, {}, { a: 'x' }, { a: 1.5 }, ['a']])('%j is no version', (value) => {
  expect(readVersion(value)).toBeUndefined()
})
