import { expect, test } from 'vitest'
import * as match from '../../../modules/match.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const asked: unknown[] = []
const ask = (fn: AnyFn, given: object) =>
  call(
    fn,
    given as Record<string, unknown>,
    fakeContext({
      match: async (tgt, type, options = {}) => {
        asked.push([tgt, type, options])
        if (tgt === 'broken (') throw new Error('not understood')
        return tgt === (options.minionId ?? 'm1') || tgt === '*'
      },
    }),
  )

const { glob, pcre, list, compound, grain, grain_pcre, pillar, pillar_pcre } = match

test.each(Object.entries({ glob, pcre, list, compound }))(
  'match.%s matches the id of this minion or another',
  async (name, fn) => {
    expect(await ask(fn, { tgt: 'm1' })).toBe(true)
    expect(await ask(fn, { tgt: 'm1', minion_id: 'm2' })).toBe(false)
    expect(asked.at(-1)).toEqual(['m1', name, { minionId: 'm2' }])
  },
)

test.each(Object.entries({ grain, grain_pcre, pillar, pillar_pcre }))(
  'match.%s passes the delimiter',
  async (name, fn) => {
    await ask(fn, { tgt: 'a|b', delimiter: '|' })
    expect(asked.at(-1)).toEqual(['a|b', name, { delimiter: '|' }])
  },
)

test('match.ipcidr needs a network', async () => {
  await ask(match.ipcidr, { tgt: '10.0.0.0/8' })
  expect(asked.at(-1)).toEqual(['10.0.0.0/8', 'ipcidr', {}])
})

test('a malformed target does not match', async () => {
  expect(await ask(match.compound, { tgt: 'broken (' })).toBe(false)
})

test('match.filter_by returns the value of the first match, else the default', async () => {
  const lookup = { m0: 0, m1: { a: 1 }, '*': 2, default: 3 }
  expect(await ask(match.filter_by, { lookup })).toEqual({ a: 1 })
  expect(await ask(match.filter_by, { lookup, merge: { b: 2 } })).toEqual({ a: 1, b: 2 })
  expect(await ask(match.filter_by, { lookup: { m0: 0, default: 3 } })).toBe(3)
  expect(await ask(match.filter_by, { lookup: { m0: 0 } })).toBeNull()
  await expect(ask(match.filter_by, { lookup, merge: 5 })).rejects.toThrow('must be a dictionary')
})

test('match.search_by returns all keys that match, or null', async () => {
  const lookup = { web: ['m0', 'm1', '*'], db: ['m2'], all: '*' }
  expect(await ask(match.search_by, { lookup })).toEqual(['web', 'all'])
  expect(await ask(match.search_by, { lookup: { db: ['m2'] } })).toBeNull()
})

test('match.ifelse accepts pairs of targets and values, and a default value', async () => {
  expect(await ask(match.ifelse, { args: ['m0', 'a', 'm1', 'b', 'c'] })).toBe('b')
  expect(await ask(match.ifelse, { args: ['m0', 'a', false, 'b', 'c'] })).toBe('c')
  expect(await ask(match.ifelse, { args: [true, 'a', 'c'] })).toBe('a')
  expect(await ask(match.ifelse, { args: ['only'] })).toBe('only')
  await expect(ask(match.ifelse, { args: ['m0', 'a'] })).rejects.toThrow('odd number of arguments')
})
