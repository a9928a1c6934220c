import { describe, expect, test } from 'vitest'
import { expandCompound, expandNodegroup } from '../../../core/targets/index.ts'

const nodegroups = {
  web: 'L@web01,web02',
  ids: ['web01', 'db01'],
  words: ['web*', 'and', 'not', 'G@env:a b'],
  outer: 'N@web or N@ids',
  loop: 'N@loop2',
  loop2: 'web* or N@loop',
  empty: '',
}

describe('nodegroups', () => {
  test('become the words of a compound expression', () => {
    expect(expandNodegroup('web', nodegroups)).toEqual(['(', 'L@web01,web02', ')'])
    expect(expandNodegroup('ids', nodegroups)).toEqual(['(', 'L@web01,db01', ')'])
    expect(expandNodegroup('words', nodegroups)).toEqual(['(', 'web*', 'and', 'not', 'G@env:a b', ')'])
  })

  test('inside others are resolved, also in a compound target', () => {
    const outer = ['(', '(', 'L@web01,web02', ')', 'or', '(', 'L@web01,db01', ')', ')']
    expect(expandNodegroup('outer', nodegroups)).toEqual(outer)
    expect(expandCompound('N@outer and not db*', nodegroups)).toEqual([...outer, 'and', 'not', 'db*'])
  })

  test('a compound target without them is left as it is', () => {
    expect(expandCompound('web*  and G@os:x', nodegroups)).toBe('web*  and G@os:x')
  })

  test('that refer to themselves, are empty or unknown are refused with a sentence', () => {
    expect(() => expandNodegroup('loop', nodegroups)).toThrow('loop → loop2 → loop')
    expect(() => expandNodegroup('empty', nodegroups)).toThrow("'empty' is empty")
    expect(() => expandNodegroup('wob', nodegroups)).toThrow(
      "no nodegroup 'wob' in the configuration. Did you mean 'web'?",
    )
    expect(() => expandNodegroup('constructor', nodegroups)).toThrow("no nodegroup 'constructor'")
  })
})
