import { describe, expect, test } from 'vitest'
import { messageOf } from '../../../core/base/errors.ts'
import { parseCompound, saltLetters } from '../../../core/dialect/compound-target.ts'
import { SLOW } from '../../harness/slow.ts'

const glob = (word: string) => ({ type: 'glob', expression: word, word })

function complaint(expression: unknown): string {
  try {
    parseCompound(expression)
  } catch (error) {
    return messageOf(error)
  }
  return ''
}

describe('a compound target', () => {
  test('becomes a tree: not binds tighter than and, and tighter than or', () => {
    expect(parseCompound('a or b and not c not ( d or e )')).toEqual({
      any: [glob('a'), { all: [glob('b'), { not: glob('c') }, { not: { any: [glob('d'), glob('e')] } }] }],
    })
  })

  test.each([
    ['G@os:x', { type: 'grain', expression: 'os:x', word: 'G@os:x' }],
    ['G|@os|x', { type: 'grain', expression: 'os|x', delimiter: '|', word: 'G|@os|x' }],
    ['G@@os@x', { type: 'grain', expression: 'os@x', delimiter: '@', word: 'G@@os@x' }],
    ['G@@', { type: 'grain', expression: '@', word: 'G@@' }],
    ['J😀@a😀b', { type: 'pillar_pcre', expression: 'a😀b', delimiter: '😀', word: 'J😀@a😀b' }],
    ['L@a,b', { type: 'list', expression: 'a,b', word: 'L@a,b' }],
    ['L@@a', { type: 'list', expression: '@a', word: 'L@@a' }],
    ['L|@a', glob('L|@a')],
    ['G@', glob('G@')],
    ['@a', glob('@a')],
    ['X@a', glob('X@a')],
    ['GGG@a', glob('GGG@a')],
    ['(web*)', glob('(web*)')],
  ])('has parts of every kind: %s', (word, leaf) => expect(parseCompound(word)).toEqual(leaf))

  test('may be a list of words, which are not split again', () => {
    expect(parseCompound(['a b', 'or', 'c'])).toEqual({ any: [glob('a b'), glob('c')] })
  })

  test('accepts additional letters', () => {
    const letters = new Map([...saltLetters, ['Z', { type: 'rack', delimited: false }]])
    expect(parseCompound('Z@7', letters)).toEqual({ type: 'rack', expression: '7', word: 'Z@7' })
  })

  test.each([
    ['', 'it is empty', 0],
    ['web* and', "a target is missing after 'and'", 8],
    ['web* and or db*', "a target is missing between 'and' and 'or'", 9],
    ['and web*', "a target is missing before 'and'", 0],
    ['web* db*', "'and' or 'or' is missing before 'db*'", 5],
    ['( web* or db*', "this '(' is never closed", 0],
    ['web* )', "')' closes no '('", 5],
    ['a and ( b c )', "'and' or 'or' is missing before 'c'", 10],
    ['not not a', "a target is missing between 'not' and 'not'", 4],
    ['( )', "a target is missing between '(' and ')'", 2],
    [['a', 'b'], "'and' or 'or' is missing before 'b'", 2],
  ])('that is malformed is refused with the place: %j', (expression, reason, at) => {
    const [sentence, shown, mark] = complaint(expression).split('\n')
    expect(sentence).toBe(`The compound target is malformed at character ${at + 1}: ${reason}.`)
    expect(shown).toBe(`  ${[expression].flat().join(' ')}`)
    expect(mark).toBe(`  ${' '.repeat(at)}^`)
  })

  test('that is long is shown around the place', () => {
    const [, shown, mark] = complaint(`${'a or '.repeat(100)}b c`).split('\n')
    expect(shown?.length).toBeLessThan(80)
    expect(shown?.slice((mark?.length ?? 0) - 1)).toBe('c')
  })

  test('of many parts, or too many parentheses, is parsed or refused quickly', SLOW, () => {
    expect(parseCompound(`${'a or '.repeat(100_000)}b`)).toHaveProperty('any')
    expect(complaint('( '.repeat(100_000))).toContain('more than 100 parentheses')
    expect(complaint({ a: 1 })).toBe('A compound target is text or a list of words.')
  })
})
