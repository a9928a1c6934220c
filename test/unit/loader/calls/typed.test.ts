import { describe, expect, test } from 'vitest'
import { type Params, p } from '../../../../core/author/index.ts'
import { decode, encodeNetwork, Float } from '../../../../core/codec/index.ts'
import { splitArguments } from '../../../../core/loader/calls/arguments.ts'
import { bind } from '../../../../core/loader/calls/bind.ts'
import { typedWords, withWords } from '../../../../core/loader/calls/typed.ts'
import { makeCheck } from '../../../../core/loader/calls/validate.ts'
import { parseInput } from '../../../../core/loader/calls/words.ts'
import { rawArgumentsAt, readRawArguments } from '../../../../core/wire/raw-arguments.ts'

/** What a function gets of words that were typed on another host. */
function received(params: Params, words: readonly string[], noParse: readonly string[] = []): unknown {
  const wire = { arg: parseInput(words, noParse), words: typedWords(words, noParse) }
  const { arg, words: read } = decode(encodeNetwork(wire)) as { arg: unknown[]; words: unknown }
  const call = withWords(splitArguments(arg), rawArgumentsAt(readRawArguments(read), 0))
  return bind({ name: 'mod.fun', ...call }, params, makeCheck(params))
}
const one = (param: Params[string], word: string) =>
  (received({ value: param }, [word]) as { value: unknown }).value

describe('declared types decide how a word is read', () => {
  test.each([
    ['1.10', '1.10', 1.1],
    ['0755', '0755', 755],
    ['yes', 'yes', true],
    ['null', 'null', null],
    ['None', 'None', null],
    ['1e3', '1e3', '1e3'],
    ['9007199254740993', '9007199254740993', 9007199254740993n],
    ['3.0', '3.0', new Float(3)],
    ['0x1F', '0x1F', 31],
    ['[a, 1.10]', '[a, 1.10]', ['a', 1.1]],
    ['{a: yes}', '{a: yes}', { a: true }],
    [`"5"`, '5', '5'],
    [`'yes'`, 'yes', 'yes'],
    ['!!str 5', '5', '5'],
  ])('%s is the text %s, and a value without a declared type', (word, text, value) => {
    expect(one(p.string(), word)).toBe(text)
    expect(one(p.any(), word)).toEqual(value)
    expect(received({ all: p.rest(p.any()) }, [word])).toEqual({ all: [value] })
    expect(received({ all: p.keywords(p.any()) }, [`k=${word}`])).toEqual({ all: { k: value } })
    expect(received({ k: p.string() }, [`k=${word}`])).toEqual({ k: text })
  })

  test('a boolean, a number or an integer is read as before', () => {
    expect(['yes', 'off', '1'].map((word) => one(p.boolean(), word))).toEqual([true, false, true])
    expect(['1.10', '3.0'].map((word) => one(p.number(), word))).toEqual([1.1, 3])
    expect(one(p.integer(), '0755')).toBe(755)
    expect(() => one(p.boolean(), '1.10')).toThrow(`'value' must be a boolean, not 1.1`)
  })
  test('a word that is sent as it was typed and as a value is one value', () => {
    const call = withWords(splitArguments(['n=0x10']), { args: [], kwargs: { n: '0x10' } })
    expect(bind({ name: 'mod.fun', ...call }, { n: p.any() }, makeCheck({ n: p.any() }))).toEqual({ n: 16 })
  })
  test('an enum is the word that was typed', () => {
    expect(one(p.enum('on', 'off', 'yes'), 'yes')).toBe('yes')
    expect(one(p.enum('1', '1.0'), '1.0')).toBe('1.0')
    expect(one(p.enum('present', 'true'), 'yes')).toBe('true')
  })
  test('an item of a list or map is the word that was typed there', () => {
    const list = p.array(p.string())
    expect(one(list, '[1.10, yes, "2", [a, 1.0], ~, ]')).toEqual(['1.10', 'yes', '2', '[a, 1.0]', '~'])
    expect(one(list, '1.10')).toEqual(['1.10'])
    expect(one(list, '[]')).toEqual([])
    expect(one(p.array(p.record(p.string())), '[a: 1]')).toEqual([{ a: '1' }])
    expect(one(p.array(list), '[[1.10], [no, 0755]]')).toEqual([['1.10'], ['no', '0755']])
    expect(one(p.array(p.any()), '[1.10, yes, [1.0]]')).toEqual([1.1, true, [new Float(1)]])
    expect(one(p.record(p.string()), '{a: 1.10, 1.20: yes}')).toEqual({ a: '1.10', '1.20': 'yes' })
    expect(one(p.record(p.any()), '{a, b: , c: 1.0}')).toEqual({ a: null, b: null, c: new Float(1) })
    expect(one(p.record(p.any()), '{a: 1.1, b: 1.10, yes: [no]}')).toEqual({ a: 1.1, b: 1.1, yes: [false] })
    const shape = p.object({ version: p.string(), force: p.boolean() })
    expect(one(shape, '{version: 1.10, force: yes}')).toEqual({ version: '1.10', force: true })
    expect(one(list, '[&x 1.10, *x]')).toEqual(['1.1', '1.1'])
  })
  test('a union has the type of the value, else text', () => {
    const either = p.union(p.number(), p.string())
    expect(['1.10', 'yes', 'abc'].map((word) => one(either, word))).toEqual([1.1, 'yes', 'abc'])
    const listed = p.union(p.string(), p.array(p.string()))
    expect(one(listed, '[1.10, yes]')).toEqual(['1.10', 'yes'])
    expect(one(listed, '1.10')).toBe('1.10')
  })
  test('null is no value for an optional parameter, and a word for a text that is not optional', () => {
    expect(received({ name: p.optional(p.string()) }, ['name=null'])).toEqual({})
    expect(received({ name: p.default(p.string(), 'x') }, ['None'])).toEqual({ name: 'x' })
  })
  test('the last of several words of one name counts, and names of --no-parse keep their text', () => {
    const params = { k: p.any(), t: p.optional(p.string()) }
    expect(received(params, ['k=1.10', 'k=abc'])).toEqual({ k: 'abc' })
    expect(received(params, ['k=1.10', 't=yes'], ['k'])).toEqual({ k: '1.10', t: 'yes' })
  })
  test('a keyword among positional arguments is a word, too', () => {
    const { kwargs } = splitArguments(['version=1.10'])
    const params = { version: p.string() }
    expect(bind({ name: 'm.f', args: [], kwargs }, params, makeCheck(params))).toEqual({ version: '1.10' })
  })
})

describe('words are sent along only if they differ from their values', () => {
  test('texts, quoted or not, need none', () => {
    expect(typedWords(['abc', `'5'`, 'k=v', '', ' '])).toBeUndefined()
    expect(typedWords(['abc', '1.10', 'k=v', 'n=yes'])).toEqual({
      args: [null, '1.10'],
      kwargs: { n: 'yes' },
    })
  })
  test('a word that does not match the value beside it is dropped', () => {
    const words = { args: ['rm -rf /', '1.10', 'yes'], kwargs: { a: '0755', b: '1' } }
    const call = withWords({ args: ['ls', 1.1, false], kwargs: { a: 755, b: 2 } }, words)
    const params = { c: p.string(), v: p.string(), f: p.string(), a: p.string(), b: p.string() }
    expect(bind({ name: 'm.f', ...call }, params, makeCheck(params))).toEqual({
      c: 'ls',
      v: '1.10',
      f: 'false',
      a: '0755',
      b: '2',
    })
  })
  test.each([
    [7],
    [{ args: 'x', kwargs: {} }],
    [{ args: [7], kwargs: {} }],
    [{ args: [], kwargs: { a: 1 } }],
    [{ args: [] }],
    [[null, 3]],
  ])('%j is not a list of words', (given) => expect(readRawArguments(given)).toBeUndefined())

  test('several functions have a list of words each', () => {
    const words = readRawArguments([null, { args: ['1.10'], kwargs: {} }])
    expect(rawArgumentsAt(words, 0)).toBeUndefined()
    expect(rawArgumentsAt(words, 1)).toEqual({ args: ['1.10'], kwargs: {} })
    expect(rawArgumentsAt(words, 2)).toBeUndefined()
  })
})
