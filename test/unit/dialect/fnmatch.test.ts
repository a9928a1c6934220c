import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fnmatch, fnmatchToRegExp } from '../../../core/dialect/fnmatch.ts'

/** Decided by Python's fnmatch.fnmatchcase. */
const cases: [pattern: string, text: string, matches: boolean][] = [
  ['*', '', true],
  ['web*', 'web01', true],
  ['web*', 'WEB01', false],
  ['web0[12]', 'web02', true],
  ['web0[!1]*', 'web01', false],
  ['?', 'ż', true],
  ['?', '😀', true],
  ['[]a]', ']', true],
  ['[!]a]', ']', false],
  ['[a-', '[a-', true],
  ['[c-a]', 'b', false],
  ['[!c-a]', 'b', true],
  ['[--0]', '.', true],
  ['[a-]', '-', true],
  ['[^a]', '^', true],
  ['a.c', 'abc', false],
  ['{a,b}', '{a,b}', true],
  ['a\\*', 'a\\b', true],
  ['*.example.*', 'web.example.com', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['*\n*', 'a\nb', true],
  ['', '', true],
  ['', 'x', false],
  ['[!])?', '[!])x', true],
  ['?[!][!', 'x[!][!', true],
  ['A[^/A', 'A[^/A', true],
  ['[\\z[)', '[\\z[)', true],
  ['][!', '][!', true],
  ['[!]', '[!]', true],
  ['( ^[!]', '( ^[!]', true],
  ['*[![a-][!a-c]', 'ab[![a-][!a-c]', true],
  ['[!a', '[!a', true],
  ['?[!]', 'x[!]', true],
  ['[[]', '[', true],
  ['?A[^', 'xA[^', true],
  ['A([!/', 'A([!/', true],
  ['[!}?ż(', '[!}xż(', true],
  ['[^$ż', '[^$ż', true],
  ['\n)\n[!\\', '\n)\n[!\\', true],
  ['}[!]', '}[!]', true],
  ['[!]', '[!]', true],
  ['|}0[!] ', '|}0[!] ', true],
  ['[!](/\nż', '[!](/\nż', true],
  ['[!]', 'A}\n]', false],
  ['[!a-c][c-a][a-c-z][!a-c]ż', 'A. A[', false],
  ['[!a-c][[]', '-~^-|', false],
  ['|[c-a][!]😀', '.{&a', false],
  ['[||][!z-a]z[!z-a]', 'ż😀', false],
  ['[~~]9[a&&b][--0]{', 'zc', false],
  ['[!a-c]]|[^😀', '[!a-c]]|[^😀', false],
  ['a[[[]', 'b-~😀', false],
  ['[a-]/', '', false],
  ['c[!z-a]', '', false],
]

describe('fnmatch', () => {
  test.each(cases)('decides like Python: %s on %j', (pattern, text, matches) => {
    expect(fnmatch(text, pattern)).toBe(matches)
  })

  test('any text is a usable pattern, and a pattern without signs matches only itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: 'binary' }), (a, b) => typeof fnmatch(a, b) === 'boolean'),
    )
    fc.assert(fc.property(fc.stringMatching(/^[^*?[]*$/), (text) => fnmatch(text, text)))
  })

  test('many stars on a long text are decided without trying all ways to match', () => {
    expect(fnmatch('a'.repeat(20_000), `${'*a'.repeat(100)}b`)).toBe(false)
  })

  test('the same pattern is compiled once', () => {
    expect(fnmatchToRegExp('same*')).toBe(fnmatchToRegExp('same*'))
  })
})

test.each([
  ['x'.repeat(100_000), '100000 characters and 0 stars'],
  ['*a'.repeat(1_000), '2000 characters and 1000 stars'],
])(
  'a pattern that is too large for V8 is refused with a sentence that shows its beginning',
  (pattern, size) => {
    expect(() => fnmatch('web01', pattern)).toThrow(size)
    expect(() => fnmatch('web01', pattern)).toThrow(/^The pattern '.{60}\.\.\.' is too large/)
  },
)

test('a pattern of 4,096 characters, or of 500 stars, is read', () => {
  expect(fnmatch('x'.repeat(4_096), 'x'.repeat(4_096))).toBe(true)
  expect(fnmatch('a'.repeat(500), '*a'.repeat(500))).toBe(true)
})
