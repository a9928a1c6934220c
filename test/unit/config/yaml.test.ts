import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseYaml } from '../../../core/config/yaml.ts'
import { SLOW } from '../../harness/slow.ts'

const value = (text: string) => (parseYaml(`key: ${text}\n`) as Record<string, unknown>).key

describe('words have the same meaning as in Salt', () => {
  test.each([
    ['yes', true],
    ['On', true],
    ['OFF', false],
    ['y', 'y'],
    ['tRUE', 'tRUE'],
    ['~', null],
    ['', null],
    ['Null', null],
    ['0755', 755],
    ['-017', -15],
    ['08', '08'],
    ['0x1F', 31],
    ['0b101', 5],
    ['0o17', '0o17'],
    ['1_000', 1000],
    ['1:30', 90],
    ['12:30:45', 45045],
    ['00:10', '00:10'],
    ['1:30.5', 90.5],
    ['1.5', 1.5],
    ['.5', 0.5],
    ['-.5', '-.5'],
    ['1e3', '1e3'],
    ['1.0e+3', 1000],
    ['-.inf', Number.NEGATIVE_INFINITY],
    ['.NaN', Number.NaN],
    ['9007199254740993', 9007199254740993n],
    ['0.0.0.0', '0.0.0.0'],
    ['2024-01-31', '2024-01-31'],
    ['2024-01-31 10:00:00', '2024-01-31 10:00:00'],
    ['/var/run # a path', '/var/run'],
    ["'yes'", 'yes'],
    ['!!str 12', '12'],
    ['!!int "12"', 12],
  ])('%s is %o', (text, expected) => {
    expect(value(text)).toEqual(expected)
  })
})

describe('documents', () => {
  test('merges maps with <<', () => {
    expect(parseYaml('a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n')).toEqual({
      a: { x: 1, y: 2 },
      b: { x: 1, y: 3 },
    })
    expect(parseYaml('a: &a {x: 1}\nb: &a {y: 2}\nc: {<<: [*a, {z: 3}]}\n')).toMatchObject({
      c: { y: 2, z: 3 },
    })
  })

  test('is null when it is empty', () => {
    expect(parseYaml('# only a comment\n')).toBe(null)
  })

  test.each([
    ['a key that comes twice', 'a: 1\nb: 1\na: 2\n', /^line 3, column 1: 'a' is set twice, first on line 1$/],
    ['one in a map', 'm:\n  a: 1\n  a: 2\n', /^line 3, column 3: 'a' is set twice, first on line 2$/],
    ['a list that does not end', 'a: 1\nb: [1, [2]\nc: 3\n', /^line 2, column 4: this '\[' is never closed$/],
    ['a map that does not end', 'a: {b: "["', /^line 1, column 4: this '{' is never closed$/],
    ['a bracket too many', 'a: [1]]\n', /^line 1, column 7: Unexpected/],
    ['a quote that does not end', 'a: "x\nb: 1\n', /begins with " but does not end with it$/],
    ['a line that is indented otherwise', 'a:\n   b: 1\n  c: 2\n', /^line 3, column 1: .*not indented like/],
    ['an option without a colon', 'a: 1\nb\n', /^line 2, column 1: a ':' is missing/],
    ['a value that looks like a map', 'a: b: c\n', /^line 1, column 4: .*needs quotes/],
    ['a value that begins with @', 'a: @b\n', /^line 1, column 4: a value that begins with @ needs quotes$/],
    ['a tag of Python', 'a: !!python/object/apply:os.system ["id"]\n', /tag/i],
    ['a tag of JavaScript', 'a: !!js/function "x"\n', /tag/i],
    ['a value that does not fit its tag', 'a: !!int abc\n', /tag/i],
    ['two documents', 'a: 1\n---\nb: 2\n', /documents/],
    ['an alias of nothing', 'a: &a 1\nb: [*c]\n', /^line 2, column 5: nothing before \*c is marked with &c$/],
    ['an alias before its mark', 'a: *a\nb: &a 1\n', /^line 1, column 4: nothing before \*a/],
    [
      'a value that contains itself',
      'a: 1\nb: &b [{c: *b}]\n',
      /^line 2, column 12: \*b repeats the value that/,
    ],
    ['a list as a key', 'a: 1\n? [b, ~]\n: c\n', /^line 2, column 3: a list or a map cannot be a key$/],
    ['a map as a key', 'a: {{ b }}\n', /^line 1, column 5: a list or a map cannot be a key$/],
    ['a << without a map', 'a: 1\nb:\n  <<: 5\n', /^line 3, column 3: the value of << must be a map/],
    ['a tab as indentation', 'a:\n\tb: 1\n', /[Tt]ab/],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parseYaml(text)).toThrow(reason)
  })

  test('refuses aliases that would grow without bound', () => {
    const levels = Array.from(
      { length: 9 },
      (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(',')}]`,
    )
    expect(() => parseYaml(`a0: &a0 [x]\n${levels.join('\n')}\n`)).toThrow(/alias/)
  })

  test('refuses nesting that would exhaust the stack', () => {
    expect(() => parseYaml(`a: ${'['.repeat(200_000)}`)).toThrow()
  })

  test('keeps a key named __proto__ a key', () => {
    const parsed = parseYaml('__proto__: evil\n') as object
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
    expect(Object.keys(parsed)).toEqual(['__proto__'])
  })
})

describe('the fast path for flat files', () => {
  const word = fc.stringMatching(/^[A-Za-z0-9/._:+-]{0,6}$/)
  const line = fc.oneof(
    fc.tuple(fc.stringMatching(/^[a-z_]{1,3}$/), word).map(([key, text]) => `${key}: ${text}`),
    fc.constantFrom('', '# comment', '  ', 'a:', 'b: c # d', 'e : f', ' g: h', '- i', 'on: 1', 'j: k: l'),
  )

  test('returns the same as the parser', SLOW, () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        const text = `${lines.join('\n')}\n`
        // A document with a directive never takes the short cut.
        expect(outcome(() => parseYaml(text))).toEqual(outcome(() => parseYaml(`%YAML 1.1\n---\n${text}`)))
      }),
      { numRuns: 1000 },
    )
  })
})

function outcome(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch {
    return 'refused'
  }
}
