/** Malicious and very large values and templates. */
import { expect, test } from 'vitest'
import { SLOW } from '../../../harness/slow.ts'
import { render } from '../_template/context.ts'

/** Well above what takes linear time, and far below what takes quadratic time, on any machine. */
const SOON_MS = 20_000

test.each([
  ['[none]|first', 'None'],
  ['[1, none]|last', 'None'],
  ['[none]|random', 'None'],
  ['[]|first is defined', 'False'],
])('None in a list is an element: {{ %s }} gives %s', async (expression, shown) => {
  expect(await render(`{{ ${expression} }}`)).toBe(shown)
})

test.each([
  ["('<' * 300000)|striptags|length", '300000'],
  ["('<!--' * 100000)|striptags|length", '400000'],
  ["('a' * 300000).expandtabs()|length", '300000'],
  ["(('1' * 300000) ~ 'x')|float", '0.0'],
  ["(('1' * 300000) ~ 'x')|to_num", `${'1'.repeat(300_000)}x`],
  ['range(50000)|unique|length', '50000'],
  ['range(50000)|difference(range(25000))|length', '25000'],
  ['range(50000)|intersect(range(25000))|length', '25000'],
  ['range(50000)|symmetric_difference(range(25000))|length', '25000'],
  ['(range(50000)|compare_lists(range(25000))).old|length', '25000'],
])(
  'A long value takes time in proportion to its length: {{ %s }}',
  { timeout: SOON_MS },
  async (expression, shown) => {
    expect(await render(`{{ ${expression} }}`)).toBe(shown)
  },
)

test('Each character of a long text is read in a moment', { timeout: SOON_MS }, async () => {
  const template =
    "{% set s = 'ab' * 150000 %}{% for i in range(1000) %}{% if s[i] != 'ab'[i % 2] %}{{ i }}{% endif %}{% endfor %}"
  expect(await render(template)).toBe('')
})

test(
  'Lists of hundreds of thousands of elements are added, repeated, filled and given to functions',
  SLOW,
  async () => {
    const template = `{% set m = [] %}{% do m.extend([1] * 500000) %}{{ m|length }}
{{ ((1,) * 500000)|length }} {{ ([1]|batch(200000, 'x')|first)|length }} {{ (m + m[:1])|length }}
{% macro count() %}{{ varargs|length }}{% endmacro %}{{ count(*m) }}`
    expect(await render(template)).toBe('500000\n500000 200000 500001\n500000')
  },
)

test.each([
  ['(2**60 + 1) is odd', 'True'],
  ['(2**60 + 1) is even', 'False'],
  ['(2**60 + 1) is divisibleby 2', 'False'],
  ["'99999999999999999999'|to_num", '99999999999999999999'],
  ['1e30|int', '1000000000000000019884624838656'],
])('Large integers are exact: {{ %s }} gives %s', async (expression, shown) => {
  expect(await render(`{{ ${expression} }}`)).toBe(shown)
})

test.each([
  ["'%*d' % (400000000, 1)", 'above 10000'],
  ["'%.*f' % (400000000, 1)", 'above 10000'],
  ["''.ljust(400000000)", 'more than 1000000 elements'],
  ["''.rjust(400000000)", 'more than 1000000 elements'],
  ["''.center(400000000)", 'more than 1000000 elements'],
  ["''.zfill(400000000)", 'more than 1000000 elements'],
  ["''|center(400000000)", 'more than 1000000 elements'],
  ["'a\nb'|indent(400000000)", 'more than 1000000 elements'],
  ["'\t'.expandtabs(400000000)", 'more than 1000000 elements'],
  ['[1]|slice(20000000)', 'more than 1000000 elements'],
  ['1000000000|random_str', 'more than 1000000 elements'],
  ['(10 ** 10000) ** 10000', 'powers with more than 100000 bits'],
  ["'abc'|wordwrap(0)", 'invalid width 0'],
  ['range(10)|permutations(-1)', 'r must be non-negative'],
  ['range(10)|combinations(-1)', 'r must be non-negative'],
  ["5|random_hash('nope')", 'nope'],
  ["'\\Uffffffff'", 'Jinja syntax error'],
  ["'%c' % -1", 'range(0x110000)'],
  ["'{:c}'.format(1114112)", 'range(0x110000)'],
  ["'ab'.partition('')", 'empty separator'],
  ["'abc'|filesizeformat", 'could not convert string to float'],
])('{{ %s }} is refused: %s', { timeout: SOON_MS }, async (expression, said) => {
  const failed = await render(`{{ ${expression} }}`).then(
    () => '',
    (error: Error) => error.message,
  )
  expect(failed).toMatch(/^Jinja /)
  expect(failed).toContain(said)
})

test.each([
  ['not', `${'not '.repeat(5000)}true`],
  ['minus', `${'- '.repeat(5000)}1`],
  ['sums', `1${'+1'.repeat(50_000)}`],
  ['filters', `1${'|string'.repeat(3000)}`],
  ['attributes', `a${'.b'.repeat(3000)}`],
  ['alternatives', `1${' or 0'.repeat(3000)}`],
  ['conditions', `1${' if 1 else 0'.repeat(3000)}`],
])('Thousands of operators in one expression are refused: %s', async (_, expression) => {
  await expect(render(`{{ ${expression} }}`)).rejects.toThrow(
    'Jinja syntax error: the template is nested too deeply',
  )
})

test.each([
  ['range(22)|list|combinations(23)', '[]'],
  ['range(1000)|product([])', '[]'],
])('Impossible results are refused quickly: {{ %s }}', { timeout: SOON_MS }, async (expression, shown) => {
  expect(await render(`{{ ${expression} }}`)).toBe(shown)
})

test('A list that is doubled again and again is refused before it fills the memory', {
  timeout: SOON_MS,
}, async () => {
  const template =
    '{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}'
  await expect(render(template)).rejects.toThrow('more than 1000000 elements')
})

test('A text that is doubled again and again is refused before it fills the memory', {
  timeout: SOON_MS,
}, async () => {
  const template =
    "{% set ns = namespace(l='a') %}{% for i in range(60) %}{% set ns.l = ns.l ~ ns.l %}{% endfor %}"
  await expect(render(template)).rejects.toThrow(/^Jinja error/)
})

test('A template that extends itself is refused', { timeout: SOON_MS }, async () => {
  await expect(render("{% extends 'extends-itself.jinja' %}")).rejects.toThrow(
    'maximum recursion depth exceeded',
  )
})

test('A loop yields to the event loop, so that it can be stopped', { timeout: SOON_MS }, async () => {
  const template = '{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}'
  const { context } = await import('../_template/context.ts')
  const killed = new AbortController()
  setTimeout(() => killed.abort(new Error('killed')), 100)
  await expect(render(template, {}, context({ signal: killed.signal }))).rejects.toThrow('killed')
})
