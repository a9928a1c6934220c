import { expect, test } from 'vitest'
import { checkTarget, createMatcher, expectedMinions } from '../../../core/targets/index.ts'
import { allMatchers } from '../../harness/matchers.ts'
import { SLOW } from '../../harness/slow.ts'

const plugins = await allMatchers()
const open = () => createMatcher({ matchers: (type) => plugins.get(type) })
const ids = (count: number) => Array.from({ length: count }, (_, n) => `web${n}`)
const grains = (count: number) => Array.from({ length: count }, (_, n) => `G@os:x${n}`).join(' or ')

const tooLarge: [string, unknown, string][] = [
  ['grain', 'a:'.repeat(100_000), 'The target has 200000 characters, but may have 65536'],
  ['glob', 'x'.repeat(10_000_000), 'The target is longer than 8388608 characters'],
  ['glob', 'x'.repeat(100_000), 'The target has 100000 characters'],
  ['pcre', 'x'.repeat(100_000), 'The target has 100000 characters'],
  ['range', [`%${'x'.repeat(100_000)}`], 'The target has 100001 characters'],
  ['list', ids(100_001), 'The list has 100001 ids, but may have 100000'],
  ['list', ids(100_001).join(','), 'The list has 100001 ids'],
  ['list', 'x'.repeat(10_000_000), 'The list of ids has 10000000 characters'],
  ['compound', grains(1_001), 'The compound target has 1001 terms, but may have 1000'],
  ['compound', grains(1_001).split(' '), 'The compound target has 1001 terms'],
  ['compound', '( '.repeat(100_000), 'The target has 200000 characters'],
  ['compound', `web* or L@${ids(100_000).join(',')} or L@a`, 'The list has 100001 ids'],
]

test.each(tooLarge)(
  'a %s target that is too large is refused before it is parsed',
  (tgt_type, tgt, reason) => {
    const target = { tgt, tgt_type }
    expect(() => checkTarget(target)).toThrow(reason)
    expect(() => expectedMinions(target, [{ id: 'web1' }], open())).toThrow(reason)
  },
)

test('lists of a whole fleet, and compound targets with them, are accepted', SLOW, () => {
  for (const [tgt_type, tgt] of [
    ['list', ids(100_000)],
    ['list', ids(100_000).join(',')],
    ['compound', ['(', 'db*', ')', 'or', `L@${ids(99_000).join(',')}`]],
    ['compound', `${grains(999)} or L@web1`],
  ] as const) {
    const target = { tgt, tgt_type }
    checkTarget(target)
    expect(expectedMinions(target, [{ id: 'web1' }], open()).minions).toEqual(['web1'])
  }
})

test.each(['*:'.repeat(5_000), `${'*:'.repeat(200)}x`])(
  'a path that can be split in too many ways is refused as a target',
  (tgt) => {
    let nested: Record<string, unknown> = { a: 1, b: 2 }
    for (let n = 0; n < 20; n++) nested = { a: nested, b: nested }
    const subject = { id: 'web1', grains: nested }
    const decide = open().prepare({ tgt, tgt_type: 'grain' })
    expect(() => decide(subject)).toThrow(expect.objectContaining({ code: 'TARGET_INVALID' }))
    expect(() => decide(subject)).toThrow('split in too many ways')
  },
)

test('expressions that each end in time, but not together for a whole fleet, are refused', SLOW, () => {
  const tgt = Array.from({ length: 100 }, (_, n) => `E@((([a-z0-9]*)*)*)*!${n}`).join(' or ')
  const subjects = ids(100_000).map((id) => ({ id: id.padStart(9, 'x') }))
  expect(() => expectedMinions({ tgt, tgt_type: 'compound' }, subjects, open())).toThrow(
    'the expressions take too long together',
  )
})

test('only parts of a path that exist are searched', () => {
  let lookups = 0
  const grains = new Proxy(
    { a: 'x' },
    {
      getOwnPropertyDescriptor(map, key) {
        lookups++
        return Reflect.getOwnPropertyDescriptor(map, key)
      },
    },
  )
  const decide = open().prepare({ tgt: 'b:'.repeat(30_000), tgt_type: 'grain' })
  expect(decide({ id: 'web1', grains })).toBe(false)
  expect(lookups).toBe(1)
})
