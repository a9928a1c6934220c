import { Script } from 'node:vm'
import { describe, expect, test, vi } from 'vitest'
import { pythonRegExp, withMatchBudget } from '../../../core/dialect/python-regexp.ts'
import { SLOW } from '../../harness/slow.ts'

/** Decided by Python's re.match. */
const cases: [pattern: string, text: string, matches: boolean][] = [
  ['web', 'web01', true],
  ['01', 'web01', false],
  ['', 'anything', true],
  ['web\\d+$', 'web01', true],
  ['web\\d+$', 'web01\n', true],
  ['web\\d+\\Z', 'web01\n', false],
  ['(?i)WEB', 'web01', true],
  ['(?P<kind>a|b)-(?P=kind)$', 'a-a', true],
  ['(?P<kind>a|b)-(?P=kind)$', 'a-b', false],
  ['\\w+$', 'żółw', true],
  ['żó\\b', 'żółw', false],
  ['[\\W]', '-', true],
  ['[]a]', ']', true],
  ['[a-]', '-', true],
  ['[^\\d]', 'x', true],
  ['a\\-b', 'a-b', true],
  ['a{,2}b', 'aab', true],
  ['a{}', 'a{}', true],
  ['.', '\n', false],
  ['(?s).', '\n', true],
  ['\\x61\\u0062\\143', 'abc', true],
  ['a(?#a comment)b', 'ab', true],
  ['(a)(b)\\2', 'abb', true],
  ['(?!web)', 'web', false],
  ['a++b', 'aaab', true],
  ['a++a', 'aaa', false],
  ['(?:ab?)*+b', 'abab', false],
  ['(?>a|ab)c', 'abc', false],
  ['(?>a|ab)*c', 'aac', true],
  ['(a)(?>b)(c)\\2', 'abcc', true],
  ['(?x) web # the name\n \\d+ $', 'web01', true],
  ['(?i:WEB)01', 'web01', true],
  ['(?i:web)X', 'WEBx', false],
  ['(?i)web(?-i:X)[a-c]', 'WEBXB', true],
  ['(?i)web(?-i:X)', 'webx', false],
  ['(?m)a$', 'a\nb', true],
  ['(?m)a$', 'a\rb', false],
  ['(?a)\\w+$', 'żółw', false],
  ['(?<=web)01', 'web01', false],
  ['.*(?<=web)01', 'web01', true],
  ['\\s', '\ufeff', false],
  ['\\s', '\x1c', true],
]

describe('regular expressions of users', () => {
  test.each(cases)('decide like Python: %s on %j', (pattern, text, matches) => {
    expect(pythonRegExp(pattern).matches(text)).toBe(matches)
  })

  test('ignoring case does not turn \\S into \\s', () => {
    expect(pythonRegExp('\\S+$', { ignoreCase: true }).matches('DEBIAN')).toBe(true)
  })

  test.each(['(', ')', '[a', '*a', 'a**', '(?(1)a|b)', '(?L)a', '\\q', '(a', '(?P=n)', '\\'])(
    'refuse %s with a reason',
    (pattern) => {
      expect(() => pythonRegExp(pattern)).toThrow(/^The regular expression '.*' is not valid: .+\.$/)
    },
  )

  test.each(['(a+)+$', '(a|a)*$', '(.*a){20}$', '(a?){30}b', '.*.*.*.*.*x'])(
    '%s cannot block the process, and is refused without a try the second time',
    (pattern) => {
      const expression = pythonRegExp(pattern)
      const refused = () =>
        expect(() => expression.matches(`${'a'.repeat(200)}!`)).toThrow('takes longer than 100 ms')
      refused()
      const runs = vi.spyOn(Script.prototype, 'runInContext')
      refused()
      expect(runs).not.toHaveBeenCalled()
      runs.mockRestore()
    },
  )

  test(
    'a refused one is tried again after a minute; an attempt that got no processor time is repeated',
    SLOW,
    () => {
      const expression = pythonRegExp('(b+)+$')
      const idle = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 })
      const runs = vi.spyOn(Script.prototype, 'runInContext')
      const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
      const refused = () =>
        expect(() => expression.matches(`${'b'.repeat(200)}!`)).toThrow('takes longer than')
      refused()
      expect(runs).toHaveBeenCalledTimes(10)
      now.mockReturnValue(61_000)
      expect(expression.matches('bbb')).toBe(true)
      for (const spy of [idle, runs, now]) spy.mockRestore()
    },
  )

  test('a pattern that only looks dangerous is evaluated', () => {
    const expression = pythonRegExp('(?:web|db)+(?:\\d+)?$')
    expect(expression.matches('web01')).toBe(true)
    expect(expression.matches('webdbx')).toBe(false)
    expect(expression.matches('web01')).toBe(true)
  })

  test('a pattern that is too long is refused', () => {
    expect(() => pythonRegExp('a'.repeat(70_000))).toThrow('longer than')
  })
})

describe('patterns for the whole text', () => {
  test.each<[string, string, boolean]>([
    ['test.*', 'test.ping', true],
    ['test.ping', 'test.pingpong', false],
    ['a|b', 'ab', false],
    ['a|b', 'b', true],
    ['(?i)WEB', 'web', true],
    ['^ls$', 'ls', true],
    ['ls$', 'ls\n', false],
    ['.*', 'test.ping\ncmd.run', false],
  ])('%s and %j: %s', (pattern, text, expected) => {
    expect(pythonRegExp(pattern, { whole: true }).matches(text)).toBe(expected)
  })
})

test('a pattern that is too large for V8 is refused with a sentence', () => {
  expect(() => pythonRegExp('y'.repeat(60_000)).matches('y')).toThrow('it is too large')
})

test('an attempt that was interrupted after a match is repeated from the beginning', () => {
  const idle = vi.spyOn(process, 'cpuUsage').mockReturnValue({ user: 0, system: 0 })
  const { runInContext } = Script.prototype
  const runs = vi.spyOn(Script.prototype, 'runInContext').mockImplementationOnce(function (
    this: Script,
    ...given: Parameters<typeof runInContext>
  ) {
    runInContext.apply(this, given)
    throw Object.assign(new Error(), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' })
  })
  expect(pythonRegExp('(c+)+$').matches('ccc')).toBe(true)
  for (const spy of [idle, runs]) spy.mockRestore()
})

test('all matches of one piece of work may take a limited time together', () => {
  const pattern = pythonRegExp('a+')
  expect(withMatchBudget(60_000, () => [pattern.matches('aa'), pattern.matches('b')])).toEqual([true, false])
  expect(() => withMatchBudget(0, () => pattern.matches('aa'))).toThrow(
    'the expressions take too long together',
  )
  expect(pattern.matches('aa')).toBe(true)
})
