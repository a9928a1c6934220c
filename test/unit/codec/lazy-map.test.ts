import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SaltError } from '../../../core/base/errors.ts'
import { decode, decodeLazily, encodeLocal, type Value } from '../../../core/codec/index.ts'
import { SLOW } from '../../harness/slow.ts'

const special = fc.constantFrom(
  ...['é', 'eé', '__proto__', 'constructor', 'toString', '', '7', 'x'.repeat(40), 'x'.repeat(300)],
)
const names = fc.oneof(
  { weight: 10, arbitrary: fc.stringMatching(/^[A-Za-z][\w:.]{0,50}$/) },
  { weight: 3, arbitrary: special },
  fc.string({ unit: 'binary' }),
)
const keys = fc.oneof(
  { weight: 30, arbitrary: names },
  fc.integer(),
  names.map((name) => Buffer.from(name)),
)
const maps = fc
  .array(fc.tuple(keys, fc.jsonValue()), { maxLength: 40 })
  .map((entries) => new Map<unknown, unknown>(entries))

test('a lazily decoded map equals the map decoded at once', SLOW, () => {
  fc.assert(
    fc.property(maps, (map) => {
      const bytes = encodeLocal(map)
      const [lazy, whole] = [decodeLazily(bytes), decode(bytes)]
      expect(Object.getPrototypeOf(lazy)).toBe(Object.getPrototypeOf(whole))
      expect(lazy).toEqual(whole)
      if (!(whole instanceof Map)) expect(Object.keys(lazy as object)).toEqual(Object.keys(whole as object))
    }),
    { numRuns: 200 },
  )
})

test('a lazily decoded map gives the right single members, in any order, and then all of them', SLOW, () => {
  fc.assert(
    fc.property(
      fc.dictionary(names, fc.jsonValue(), { noNullPrototype: true }),
      fc.array(names),
      (map, others) => {
        const bytes = encodeLocal(map)
        const [lazy, whole] = [decodeLazily(bytes), decode(bytes)] as [
          Record<string, Value>,
          Record<string, Value>,
        ]
        fc.pre(!(whole instanceof Map))
        for (const name of [...others, ...Object.keys(whole).reverse()]) {
          expect(lazy[name]).toEqual(whole[name])
          expect(name in lazy).toBe(name in whole)
          expect(Object.hasOwn(lazy, name)).toBe(Object.hasOwn(whole, name))
        }
        expect(Object.entries(lazy)).toEqual(Object.entries(whole))
      },
    ),
    { numRuns: 200 },
  )
})

test('a value that is no map is decoded at once', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(decodeLazily(encodeLocal(value))).toEqual(decode(encodeLocal(value)))
    }),
  )
})

test('a member is decoded only when it is read', () => {
  const fine = encodeLocal({ os: 'Debian', bad: null })
  const damaged = Buffer.concat([fine.subarray(0, -1), Buffer.from('d44fc1', 'hex')]) // no name and value
  const lazy = decodeLazily(damaged) as Record<string, Value>
  expect(lazy.os).toBe('Debian')
  expect(() => lazy.bad).toThrow(SaltError)
  expect(() => Object.keys(lazy)).toThrow(SaltError)
})

test('invalid bytes are refused, at once or when a member is read', SLOW, () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (tail, isMap) => {
      const bytes = Buffer.concat([Buffer.from(isMap ? '82a161' : '', 'hex'), tail])
      try {
        Object.entries(decodeLazily(bytes) ?? {})
      } catch (error) {
        expect(error).toMatchObject({ code: 'DECODE_FAILED' })
      }
    }),
    { numRuns: 2000 },
  )
})
