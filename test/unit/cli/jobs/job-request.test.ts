import { describe, expect, test } from 'vitest'
import { jobRequest, targetOf } from '../../../../core/cli/jobs/job-request.ts'

describe('the words typed after salt', () => {
  test('are a target, a function and its arguments', () => {
    expect(jobRequest(['web*', 'test.arg', '1', 'a=[x]'], {})).toEqual({
      tgt: 'web*',
      tgtType: 'glob',
      fun: 'test.arg',
      arg: [1, { __kwarg__: true, a: ['x'] }],
      words: { args: ['1'], kwargs: { a: '[x]' } },
    })
  })

  test('are not sent along if they say no more than their values', () => {
    expect(jobRequest(['*', 'test.arg', 'a', 'b=c'], {})).not.toHaveProperty('words')
    expect(jobRequest(['*', 'test.ping,test.arg', ',', 'a'], {})).not.toHaveProperty('words')
    const { words } = jobRequest(['*', 'test.ping,test.arg', ',', 'a', 'v=1.10'], {})
    expect(words).toEqual([null, { args: [null], kwargs: { v: '1.10' } }])
  })

  test('can have several functions, whose arguments are separated by a lone comma', () => {
    const { fun, arg } = jobRequest(['*', 'test.ping,test.arg', ',', '1', 'a=2'], {})
    expect(fun).toEqual(['test.ping', 'test.arg'])
    expect(arg).toEqual([[], [1, { __kwarg__: true, a: 2 }]])
    expect(jobRequest(['*', 'a.b,c.d', '1', '::', '2'], { 'args-separator': '::' }).arg).toEqual([[1], [2]])
  })

  test('with more lists of arguments than functions are refused', () => {
    expect(() => jobRequest(['*', 'a.b,c.d', '1', ',', '2', ',', '3'], {})).toThrow(
      'arguments for 3 functions',
    )
  })

  test.each([
    [{ list: true }, 'a,b c', { tgt: ['a', 'b', 'c'], tgtType: 'list' }],
    [{ 'grain-pcre': true, delimiter: '|' }, 'os|x', { tgt: 'os|x', tgtType: 'grain_pcre', delimiter: '|' }],
    [{ compound: true }, 'G@os:x', { tgt: 'G@os:x', tgtType: 'compound' }],
    [{ ipcidr: true }, '10.0.0.0/8', { tgt: '10.0.0.0/8', tgtType: 'ipcidr' }],
  ])('with the target flags %j', (flags, word, target) => expect(targetOf(word, flags)).toEqual(target))

  test('with two target flags, or an invalid expression, are refused', () => {
    expect(() => targetOf('x', { pcre: true, list: true })).toThrow('--pcre and --list')
    expect(() => targetOf('(', { pcre: true })).toThrow('is not valid')
  })

  test('with --doc become a job of sys.doc', () => {
    expect(jobRequest(['*'], { doc: true })).toMatchObject({ fun: 'sys.doc', arg: [] })
    expect(jobRequest(['*', 'test'], { doc: true })).toMatchObject({ fun: 'sys.doc', arg: ['test'] })
    expect(jobRequest([], { doc: true })).toMatchObject({ tgt: '*', fun: 'sys.doc', arg: [] })
  })

  test('with a time-out of 0 use the time-out of the configuration', () => {
    expect(jobRequest(['*', 'test.ping'], { timeout: 0 })).not.toHaveProperty('timeout')
    expect(jobRequest(['*', 'test.ping'], { timeout: 2 })).toMatchObject({ timeout: 2 })
  })

  test('can wait from a second to 30 days, or not at all with 0', () => {
    const within = (seconds: number) => jobRequest(['*', 'test.ping'], { 'deliver-within': seconds })
    for (const seconds of [0, 1, 2_592_000]) expect(within(seconds)).toMatchObject({ deliverWithin: seconds })
    for (const seconds of [0.5, 2_592_001]) expect(() => within(seconds)).toThrow('from 1s to 30d, or 0')
  })

  test('with flags that need a map or a list are refused without one', () => {
    expect(jobRequest(['*', 'a.b'], { metadata: '{a: 1}' })).toMatchObject({ metadata: { a: 1 } })
    expect(() => jobRequest(['*', 'a.b'], { metadata: 'x' })).toThrow(
      "--metadata needs a map such as '{a: 1}', not 'x'",
    )
    expect(() => jobRequest(['*', 'a.b'], { 'module-executors': '{a: 1}' })).toThrow(
      '--module-executors needs a list',
    )
  })

  test('without a target or function are refused', () => {
    expect(() => jobRequest([], {})).toThrow('Name a target')
    expect(() => jobRequest(['web*'], {})).toThrow("Name the function that 'web*' should run")
  })
})
