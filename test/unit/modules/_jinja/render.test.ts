import { describe, expect, test } from 'vitest'
import { SLOW } from '../../../harness/slow.ts'
import { context, render } from '../_template/context.ts'

describe('Limits', () => {
  test.each([
    [
      'macros that call each other without end',
      '{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}',
      'recursion depth',
    ],
    ['long ranges', '{{ range(1000000)|list }}', 'Range too big'],
    ['long repetitions', "{{ 'ab' * 10000000 }}", 'more than 1000000 elements'],
    ['wide columns', "{{ '%99999s' % 1 }}", 'above 10000'],
    ['huge powers', '{{ 10 ** 100000 }}', 'powers with more than 100000 bits'],
    ['many products', '{{ range(1000)|product(range(1000)) }}', 'more than 100000 results'],
    ['deep parentheses', `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`, 'nested too deeply; line 1'],
    ['deep statements', '{% if true %}'.repeat(20_000), 'nested too deeply; line 1'],
  ])('refuse %s', SLOW, async (_, template, said) => {
    await expect(render(template)).rejects.toThrow(said)
  })
})

describe('Members of JavaScript values', () => {
  test.each([
    ['`constructor` of a text', "{{ ''.constructor }}", "'str object' has no attribute 'constructor'"],
    ['`__proto__` of a map', '{{ {}.__proto__.x }}', "'dict object' has no attribute '__proto__'"],
    [
      '`__proto__` of the grains',
      "{{ grains['__proto__'].x }}",
      "'dict object' has no attribute '__proto__'",
    ],
    ['`constructor` of a function', '{{ range.constructor }}', 'no attribute'],
  ])('are refused: reading %s', async (_, template, said) => {
    await expect(render(template)).rejects.toThrow(said)
  })

  test('A map may have the key `__proto__`', async () => {
    const template =
      "{% set x = {'__proto__': 1, 'constructor': 2} %}{{ x.__proto__ }}{{ x }}{% do salt['test.kwarg'](**x) %}"
    expect(await render(template)).toBe("1{'__proto__': 1, 'constructor': 2}")
    expect(({} as Record<string, unknown>)['1']).toBeUndefined()
  })
})

describe('Regular expressions', () => {
  test('A wrong one is refused with its line', async () => {
    await expect(render("\n{{ 'a'|regex_match('(') }}")).rejects.toThrow(/^Jinja error: .*; line 2\n/)
  })
})

describe('Killing the job', () => {
  test('stops the template at the next call or round of a loop', async () => {
    const killed = new AbortController()
    const of = context({
      signal: killed.signal,
      call: (async () => killed.abort(new Error('killed'))) as never,
    })
    const template = "{% for i in range(3) %}{% do salt['test.echo'](i) %}{% endfor %}"
    await expect(render(template, {}, of)).rejects.toThrow('killed')
  })
})

test('Changing the pillar is refused with its line; a copy can be changed', async () => {
  const of = context({ pillar: Object.freeze({ list: Object.freeze([1]) }) })
  await expect(render('\n{% do pillar.update({"a": 1}) %}', {}, of)).rejects.toThrow(
    'Jinja error: this map cannot be changed: copy it by dict(…); line 2',
  )
  for (const change of [
    'pillar.list.append(2)',
    'pillar.list.clear()',
    "{'a': pillar.list}|append_dict_key_value('a', 1)",
  ])
    await expect(render(`\n{% do ${change} %}`, {}, of)).rejects.toThrow(
      'Jinja error: this list cannot be changed: copy it by `|list`; line 2',
    )
  await expect(render("{% do pillar.pop('list') %}", {}, of)).rejects.toThrow('this map cannot be changed')
  expect(
    await render('{% set mine = dict(pillar) %}{% do mine.update({"a": 1}) %}{{ mine.a }}', {}, of),
  ).toBe('1')
})

test('A name of a template that is not defined is named', async () => {
  await expect(render('{% include missing %}')).rejects.toThrow(/'missing' is undefined; line 1\n/)
})

test('An error in another template names that template', async () => {
  const template = "{% import 'mac.txt' as m %}\n{{ m.hello(nothing) }}"
  await expect(render(template)).rejects.toThrow(/'nothing' is undefined; line 1 of mac.txt$/)
})

test('An error in a block names the template of the block, not the one that it extends', async () => {
  const template = "{% extends 'base.txt' %}\n{% block body %}\n{{ nothing }}{% endblock %}"
  await expect(render(template)).rejects.toThrow(/'nothing' is undefined; line 3\n\n---/)
})

test('An error in a macro names the template of the macro, not the one that calls it', async () => {
  const template = "{% macro fails() %}{{ nothing }}{% endmacro %}{% include 'calls.j2' %}"
  await expect(render(template)).rejects.toThrow(/'nothing' is undefined; line 1\n\n---/)
})

test('A template that a block includes is looked up beside the template of the block', async () => {
  expect(await render("{% include 'sub/child.j2' %}", { name: 'web' })).toBe('top INNER web bottom')
})

test.each([
  '[1]|first(3)',
  "['b']|min(bogus=1)",
  '[1]|length(1)',
  "'a'|md5(1)",
  '{}|items(1)',
  "'a' is filter(1)",
])('{{ %s }} is refused, as no argument is taken', async (expression) => {
  await expect(render(`{{ ${expression} }}`)).rejects.toThrow(/takes at most 0|unexpected keyword/)
})

test.each([
  ["'a'.upper(1)", 'upper()'],
  ["'a'.lstrip(1, 2)", 'lstrip()'],
  ["'a'.rjust()", 'rjust()'],
  ["'a'|regex_match()", 'regex_match()'],
  ['1 is none(1)', 'none()'],
  ["['a']|map('trim', 1, 2)|list", 'trim()'],
  ['dict.fromkeys()', 'fromkeys()'],
])('{{ %s }} is refused with the name of %s', async (expression, name) => {
  await expect(render(`{{ ${expression} }}`)).rejects.toThrow(`Jinja error: ${name} `)
})

test('Fields inside a format specification use the next arguments, as in Python', async () => {
  expect(await render("{{ '{:{}} {}|'.format('a', 5, 'b') }}{{ '{:{}.{}f}'.format(1.5, 6, 2) }}")).toBe(
    'a     b|  1.50',
  )
})

test('Numbers are read from texts as in Python', async () => {
  const template =
    "{{ '123456789012345678901'|to_num }} {{ 'a'|int(base=99) }} {{ 'b'|int(7, 1) }} {{ ('f' * 20)|int(base=16) }} {{ '0x1f'|int(0, 0) }} {{ '1__0'|int }} {{ '1.5'|int(base=16) }} {{ '123456789012345678901.5'|int }} {{ 'inf'|to_num }}"
  expect(await render(template)).toBe(
    '123456789012345678901 0 7 1208925819614629174706175 31 0 1 123456789012345683968 inf',
  )
})

describe('A macro', () => {
  test('takes more arguments only if it reads `varargs` or `kwargs`', async () => {
    const template = '{% macro m() %}{% set kwargs = 1 %}{{ kwargs }}{% endmacro %}{{ m(bogus=1) }}'
    await expect(render(template)).rejects.toThrow("macro 'm' takes no keyword argument 'bogus'")
    expect(
      await render(
        '{% macro m() %}{{ varargs }}{{ kwargs }}{% set kwargs = 1 %}{% endmacro %}{{ m(1, a=2) }}',
      ),
    ).toBe("(1,){'a': 2}")
  })

  test('may have parameters of these names', async () => {
    expect(
      await render('{% macro m(kwargs, varargs) %}{{ kwargs }}{{ varargs }}{% endmacro %}{{ m(1, 2) }}'),
    ).toBe('12')
  })
})

test('A width that is negative or too large is no mistake of JavaScript', async () => {
  expect(await render("{{ 'a\nb'|indent(-1) }}")).toBe('a\nb')
  for (const call of ["'a'.ljust(10000000)", "'a'.zfill(10000000)", "'a'|center(10000000)"])
    await expect(render(`{{ ${call} }}`)).rejects.toThrow('more than 1000000 elements')
})

test('Lines of no width are refused, as in Python', async () => {
  await expect(render("{{ 'a b'|wordwrap(-1) }}")).rejects.toThrow('invalid width -1 (must be > 0)')
})

test('A list that contains itself is refused in a sentence', async () => {
  await expect(render('{% set l = [] %}{% do l.append(l) %}\n{{ l }}')).rejects.toThrow(
    /^Jinja error: Maximum call stack size exceeded; line 2\n/,
  )
})

test('A dict treats equal keys, such as 1 and 1.0, as one', async () => {
  expect(await render("{% set d = {1: 'a', 2: 'b'} %}{{ d.pop(1.0) }} {{ d }}")).toBe("a {2: 'b'}")
})

test('Texts are split from the right, and up to a limit, as in Python', async () => {
  const template =
    "{{ 'aaa'.rsplit('aa', 1) }} {{ 'a '.split(none, 0) }} {{ ' a  b c '.split(none, 1) }} {{ ' a  b c '.rsplit(none, 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' '.split() }}"
  expect(await render(template)).toBe("['a', ''] ['a '] ['a', 'b c '] [' a  b', 'c'] ['a,b', 'c'] []")
})

test('Objects and functions in a list are printed as they are alone', async () => {
  const template =
    "{% macro m() %}{% endmacro %}{% for i in [1] %}{{ [loop, range, m] }}{% endfor %} {{ {'a': namespace(a=1)} }} {{ [salt, salt.test] }}"
  expect(await render(template)).toBe(
    "[<LoopContext 1/1>, <function range>, <Macro 'm'>] {'a': <Namespace {'a': 1}>} [<salt>, <salt.test>]",
  )
})
