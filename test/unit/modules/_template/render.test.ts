import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { describe, expect, test } from 'vitest'
import { renderEach, renderTemplate } from '../../../../modules/_template/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
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

test.each([
  [new Date(0), '1970-01-01T00:00:00.000000'],
  [new Set([1, 2]), '[1, 2]'],
  [Buffer.from('hällo'), 'hällo'],
])('The result of a function, %j, is in a template as a client receives it', async (value, text) => {
  const call = (async () => value) as unknown as Context['call']
  expect(await render("{{ salt['test.echo']() }}", {}, context({ call }))).toBe(text)
})

test.each([
  ['what is no value', async () => Promise.resolve({ p: Promise.resolve(1) }), 'return.p'],
  ['undefined that is thrown', () => Promise.reject(undefined), 'undefined'],
])('A function is named with its line for %s', async (_, call, said) => {
  const rendered = render("a\n{{ salt['test.echo']() }}", {}, context({ call: call as Context['call'] }))
  await expect(rendered).rejects.toThrow(/^Problem running salt function in Jinja template: .*; line 2/)
  await expect(rendered).rejects.toThrow(said)
})

describe('Names of Salt for its functions', () => {
  test.each([
    ["{{ ('http://host/x'|http_query(decode=true)).url }}", 'http.query http://host/x decode'],
    ["{{ ifelse('a*', 'A', 'b') }}", 'match.ifelse a* A b'],
  ])('%s calls the function', async (template, text) => {
    const call = async (name: string, args: readonly unknown[], kwargs: object) => {
      const shown = [name, ...args, ...Object.keys(kwargs)].join(' ')
      return name === 'http.query' ? { url: shown } : shown
    }
    expect(await render(template, {}, context({ call: call as Context['call'] }))).toBe(text)
  })
})

test('list_files returns a folder and its content', async ({ onTestFinished }) => {
  const folder = await temporaryFolder()
  onTestFinished(() => removeFolder(folder))
  await mkdir(join(folder, 'sub'))
  await writeFile(join(folder, 'sub', 'file'), '')
  const paths = [folder, join(folder, 'sub'), join(folder, 'sub', 'file')]
  expect(await render("{{ folder|list_files|join('\\n') }}", { folder })).toBe(paths.join('\n'))
})

describe('Options of the minion', () => {
  const lines = '{% if true %}\n  {% set x = 1 %}\na{{ x }}\n{% endif %}\n'

  test.each([
    [{}, '\n  \na1\n\n'],
    [{ jinja_env: { trim_blocks: true } }, '  a1\n\n'],
    [{ jinja_env: { lstrip_blocks: true } }, '\n\na1\n\n'],
    [{ jinja_env: { trim_blocks: true, lstrip_blocks: true } }, 'a1\n\n'],
    [{ jinja_trim_blocks: true }, '  a1\n\n'],
    [{ jinja_lstrip_blocks: true }, '\n\na1\n\n'],
    [{ jinja_env: { lstrip_blocks: true }, jinja_trim_blocks: true }, 'a1\n\n'],
  ])('%j leaves %j of lines with statements', async (opts, text) => {
    expect(await render(lines, {}, context({ opts }))).toBe(text)
  })

  test('jinja_env with other settings is refused', async () => {
    const opts = { jinja_env: { trim_blocks: true, line_statement_prefix: '%' } }
    await expect(render(lines, {}, context({ opts }))).rejects.toThrow(
      'The option jinja_env takes trim_blocks and lstrip_blocks, not line_statement_prefix.',
    )
  })

  test('allow_undefined makes undefined names empty', async () => {
    const opts = { allow_undefined: true }
    const template = '[{{ x }}{{ pillar.x }}{% for i in y %}{{ i }}{% endfor %}{% if z %}z{% endif %}]'
    expect(await render(template, {}, context({ opts }))).toBe('[]')
  })
})

describe('Names of other templates', () => {
  test('are paths on the file server, with or without salt://', async () => {
    expect(await render("{% include 'sub/inner.j2' %} {% include 'salt://sub/inner.j2' %}")).toBe(
      'INNER x INNER x',
    )
  })

  test('with ./ and ../ begin at the folder of the template that has them', async () => {
    expect(await render("{% include 'sub/upper.j2' %}", { name: 'web' })).toBe(
      'UPPER [INNER web] [included web]',
    )
  })

  test('with ./ begin at that folder also if it was named with salt://', async () => {
    expect(await render("{% include 'salt://sub/beside.j2' %}")).toBe('INNER x')
  })

  test('with ./ in the template that is rendered begin at the root of the file server', async () => {
    expect(await render("{% include './sub/inner.j2' %}")).toBe('INNER x')
    await expect(render("{% include './inner.j2' %}")).rejects.toThrow('is not there')
  })
})

describe('Several texts', () => {
  const how = { saltenv: 'base', variables: { name: 'web' } }

  test('are rendered one by one, also in lists of lists; other values stay', async () => {
    const values = ['{{ name }}', ['/srv/{{ name }}', 3], null]
    expect(await renderEach(values, 'jinja', how, context())).toEqual(['web', ['/srv/web', 3], null])
    expect(await renderEach('{{ name }}', 'jinja', how, context())).toBe('web')
  })

  test('stay as they are without an engine', async () => {
    expect(await renderEach(['{{ name }}'], undefined, how, context())).toEqual(['{{ name }}'])
  })

  test('are refused if one of them is wrong', async () => {
    await expect(renderEach(['a', '{{ b }}'], 'jinja', how, context())).rejects.toThrow(
      "Jinja variable 'b' is undefined; line 1",
    )
  })
})

test('A missing engine of Salt is named', async () => {
  const rendered = (engine: string) => renderTemplate('', engine, { saltenv: 'base' }, context())
  await expect(rendered('mako')).rejects.toThrow('The template engine mako is not available')
  await expect(rendered('nope')).rejects.toThrow('unavailable engine nope')
})

describe('Errors', () => {
  test('in another template name that template', async () => {
    const template = "{% import 'mac.txt' as m %}\n{{ m.hello(nothing) }}"
    await expect(render(template)).rejects.toThrow(/'nothing' is undefined; line 1 of mac.txt$/)
  })

  test('show five lines before and after', async () => {
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`)
    lines[9] = '{{ nothing }}'
    const shown = [...lines.slice(4, 9), '{{ nothing }}    <======================', ...lines.slice(10, 15)]
    await expect(render(`${lines.join('\n')}\n`)).rejects.toThrow(
      `Jinja variable 'nothing' is undefined; line 10\n\n---\n[...]\n${shown.join('\n')}\n[...]\n---`,
    )
  })
})
