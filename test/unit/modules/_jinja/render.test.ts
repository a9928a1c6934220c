import { describe, expect, test } from 'vitest'
import { context, render } from './context.ts'

describe('The functions of Salt in a template', () => {
  test('are called by index and by attribute, with what templates hold as plain values', async () => {
    const template =
      "{{ salt['test.echo']('a') }} {{ salt.test.echo((1, [2])) }} {{ salt['test.kwarg'](**{'b': {'c': 1}}) }}"
    expect(await render(template)).toBe("a [1, [2]] {'b': {'c': 1}}")
  })

  test('are found only if the minion has them', async () => {
    expect(
      await render("{{ 'test.echo' in salt }} {{ 'no.such' in salt }} {{ salt['no.such'] is defined }}"),
    ).toBe('True False False')
    await expect(render("{{ salt.no.such('x') }}")).rejects.toThrow("'salt' has no function 'no.such'")
  })

  test('that fail are named with their line', async () => {
    await expect(render("a\n{{ salt['test.fail']() }}\nb")).rejects.toThrow(
      "Problem running salt function in Jinja template: it failed; line 2\n\n---\na\n{{ salt['test.fail']() }}    <======================\nb\n---",
    )
  })
})

describe('Options of the minion', () => {
  const lines = '{% if true %}\n  {% set x = 1 %}\na{{ x }}\n{% endif %}\n'

  test('jinja_env removes line breaks and white space around statements', async () => {
    expect(await render(lines)).toBe('\n  \na1\n\n')
    const opts = { jinja_env: { trim_blocks: true, lstrip_blocks: true } }
    expect(await render(lines, {}, context({ opts }))).toBe('a1\n\n')
  })

  test('allow_undefined makes names that are not there empty', async () => {
    const opts = { allow_undefined: true }
    const template = '[{{ x }}{{ pillar.x }}{% for i in y %}{{ i }}{% endfor %}{% if z %}z{% endif %}]'
    expect(await render(template, {}, context({ opts }))).toBe('[]')
  })
})

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
    ['huge powers', '{{ 10 ** 100000 }}', 'exponents above'],
    ['many products', '{{ range(1000)|product(range(1000)) }}', 'more than 100000 results'],
    ['deep parentheses', `{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`, 'nested too deeply; line 1'],
    ['deep statements', '{% if true %}'.repeat(20_000), 'nested too deeply; line 1'],
    ['attributes of JavaScript', "{{ ''.constructor }}", "'str object' has no attribute 'constructor'"],
    ['prototypes', '{{ {}.__proto__.x }}', "'dict object' has no attribute '__proto__'"],
    ['prototypes of Salt', "{{ grains['__proto__'].x }}", "'dict object' has no attribute '__proto__'"],
    ['constructors of functions', '{{ range.constructor }}', 'no attribute'],
  ])('refuse %s', async (_, template, said) => {
    await expect(render(template)).rejects.toThrow(said)
  })

  test('a key like those of JavaScript is one like others', async () => {
    const template =
      "{% set x = {'__proto__': 1, 'constructor': 2} %}{{ x.__proto__ }}{{ x }}{% do salt['test.kwarg'](**x) %}"
    expect(await render(template)).toBe("1{'__proto__': 1, 'constructor': 2}")
    expect(({} as Record<string, unknown>)['1']).toBeUndefined()
  })

  test('a regular expression that is wrong is refused with its line', async () => {
    await expect(render("\n{{ 'a'|regex_match('(') }}")).rejects.toThrow(/^Jinja error: .*; line 2\n/)
  })

  test('a job that is killed stops at the next call or round of a loop', async () => {
    const killed = new AbortController()
    const of = context({
      signal: killed.signal,
      call: (async () => killed.abort(new Error('killed'))) as never,
    })
    const template = "{% for i in range(3) %}{% do salt['test.echo'](i) %}{% endfor %}"
    await expect(render(template, {}, of)).rejects.toThrow('killed')
  })
})

test('What a template may not change is named', async () => {
  const of = context({ pillar: Object.freeze({ list: Object.freeze([1]) }) })
  await expect(render('\n{% do pillar.update({"a": 1}) %}', {}, of)).rejects.toThrow(
    'Jinja error: this map cannot be changed: copy it by dict(…); line 2',
  )
  await expect(render('\n{% do pillar.list.append(2) %}', {}, of)).rejects.toThrow(
    /^Jinja error: .*; line 2\n/,
  )
  expect(
    await render('{% set mine = dict(pillar) %}{% do mine.update({"a": 1}) %}{{ mine.a }}', {}, of),
  ).toBe('1')
})

test('An error in another template names that template', async () => {
  const template = "{% import 'mac.txt' as m %}\n{{ m.hello(nothing) }}"
  await expect(render(template)).rejects.toThrow(/'nothing' is undefined; line 1 of mac.txt$/)
})
