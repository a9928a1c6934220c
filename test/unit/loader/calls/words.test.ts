import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Float } from '../../../../core/codec/index.ts'
import { parseInput, splitWords, yamlify } from '../../../../core/loader/calls/words.ts'

describe('words of a command line', () => {
  test.each([
    ['1.0', new Float(1)],
    ['0x10', 16],
    ['1e3', '1e3'],
    ['00:10', '00:10'],
    ["' 5 '", ' 5 '],
    [' 5 ', 5],
    ['[http://x/?a=b, c]', ['http://x/?a=b', 'c']],
    ['{a: [1, {b: \'c, d\'}], e: "\\x41"}', { a: [1, { b: 'c, d' }], e: 'A' }],
    ['[a: 1]', [{ a: 1 }]],
    ['[&x 1, *x]', [1, 1]],
    ['{a: 1, a: 2}', '{a: 1, a: 2}'],
    ['[1, , 2]', '[1, , 2]'],
    ['>', ''],
    ['!', '!'],
    ['[1] # one', [1]],
    ['...', '...'],
    ['<<', '<<'],
    ['{__proto__: 1}', new Map([['__proto__', 1]])],
    ['!!int 5', 5],
    ['!!int x', '!!int x'],
  ])('%j is read as %j', (word, value) => expect(yamlify(word)).toEqual(value))

  test('every word has a value, quickly and without an error', () => {
    fc.assert(fc.property(fc.string(), (word) => yamlify(word) !== undefined))
    const deep = '['.repeat(100_000)
    expect(yamlify(deep)).toBe(deep)
  })

  test('a keyword named __proto__ stays a keyword', () => {
    const [map] = parseInput(['__proto__=1', 'a=2']) as [object]
    expect(Object.keys(map)).toEqual(['__kwarg__', '__proto__', 'a'])
  })

  test('a keyword whose value contains a line end is a positional value, but a line end after it is ignored', () => {
    expect(parseInput(['k=v\nw', 'k=v\n\n'])).toEqual(['k=v\nw', 'k=v\n\n'])
    expect(parseInput(['k=v\n'])).toEqual([{ __kwarg__: true, k: 'v' }])
  })

  test('a keyword may begin with the characters that Python minions allow', () => {
    expect(parseInput(['²=1', 'Ⅷ=1'])).toEqual([{ __kwarg__: true, '²': 1, Ⅷ: 1 }])
    expect(parseInput(['2=1', '٣=1'])).toEqual(['2=1', '٣=1'])
  })

  test('a word that repeats itself a thousand million times is a text', () => {
    const lists = Array.from({ length: 9 }, (_, n) => `&a${n} [${Array(10).fill(n ? `*a${n - 1}` : 'x')}]`)
    for (const word of [`[${lists}]`, `[&a '${'x'.repeat(1000)}', ${Array(1000).fill('*a')}]`])
      expect(yamlify(word)).toBe(word)
    expect(yamlify('[&a [1, 2], *a]')).toEqual([
      [1, 2],
      [1, 2],
    ])
  })

  test('without a lone separator between all functions separators split words, as in Salt', () => {
    expect(splitWords(['cat /etc/hosts,,foo'], ',', 3)).toEqual([['cat /etc/hosts'], [], ['foo']])
    expect(splitWords(['a', 'b', ',', 'c', 'd,e'], ',', 3)).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  test('lone separators separate the arguments of several functions', () => {
    expect(splitWords([',', '1', 'a=2'], ',', 2)).toEqual([[], ['1', 'a=2']])
    expect(splitWords(['1'], ',', 3)).toEqual([['1'], [], []])
    expect(splitWords(['a,b', '::', 'c'], '::', 2)).toEqual([['a,b'], ['c']])
    expect(splitWords(['a,b', '', ',', 'c,'], ',', 2)).toEqual([['a,b', ''], ['c,']])
  })
})
