import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as slsutil from '../../../modules/slsutil.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { call, fakeContext } from './context.ts'

const below = { a: { b: 1, l: [1, 2] }, c: 2 }
const over = { a: { d: 2, l: [2, 3] }, e: 1 }

describe('Merging', () => {
  test.each([
    ['smart', { a: { b: 1, l: [2, 3], d: 2 }, c: 2, e: 1 }],
    ['recurse', { a: { b: 1, l: [2, 3], d: 2 }, c: 2, e: 1 }],
    ['none', { a: { b: 1, l: [2, 3], d: 2 }, c: 2, e: 1 }],
    ['overwrite', { a: over.a, c: 2, e: 1 }],
    ['aggregate', { a: over.a, c: 2, e: 1 }],
    ['list', { a: [below.a, over.a], c: 2 }],
  ])('with the strategy %s', async (strategy, merged) => {
    expect(await call(slsutil.merge, { obj_a: below, obj_b: over, strategy })).toEqual(merged)
  })

  test('joins lists only if asked to', async () => {
    const merged = { a: { b: 1, l: [1, 2, 3], d: 2 }, c: 2, e: 1 }
    expect(await call(slsutil.merge, { obj_a: below, obj_b: over, merge_lists: true })).toEqual(merged)
    expect(await call(slsutil.update, { dest: below, upd: over, merge_lists: true })).toEqual(merged)
  })

  test('by yamlex joins lists, and uses the other value if the kinds differ', async () => {
    const renderer = 'jinja|yamlex'
    expect(await call(slsutil.merge, { obj_a: [1, 2], obj_b: [2, 3], renderer })).toEqual([1, 2, 3])
    expect(await call(slsutil.merge, { obj_a: [1, 2], obj_b: 'x', renderer })).toBe('x')
  })

  test('uses recurse for an unknown strategy, with a warning', async () => {
    const context = fakeContext()
    const given = { obj_a: { a: 1 }, obj_b: { b: 2 }, strategy: 'best' }
    expect(await call(slsutil.merge, given, context)).toEqual({ a: 1, b: 2 })
    expect(context.lines).toEqual([
      { level: 'warn', message: "Unknown merging strategy 'best', fallback to recurse" },
    ])
  })

  test('merge_all goes from the first to the last', async () => {
    expect(await call(slsutil.merge_all, { lst: [{ foo: 'Foo' }, { foo: 'Bar', a: 1 }] })).toEqual({
      foo: 'Bar',
      a: 1,
    })
  })

  test('update merges the first level only, if not recursive', async () => {
    const given = { dest: { foo: { a: 1 } }, upd: { foo: { b: 1 } } }
    expect(await call(slsutil.update, given)).toEqual({ foo: { a: 1, b: 1 } })
    expect(await call(slsutil.update, { ...given, recursive_update: false })).toEqual({ foo: { b: 1 } })
  })

  test('refuses values that are no maps', async () => {
    await expect(call(slsutil.update, { dest: 1, upd: {} })).rejects.toThrow('non-dict types')
  })
})

describe('Serializers', () => {
  const value = { b: 1, a: [1, { y: 'yes' }], t: 'a: b', z: null }
  const there = (serializer: string, obj: unknown, mod_kwargs = {}) =>
    call(slsutil.serialize, { serializer, obj, mod_kwargs })
  const back = (serializer: string, stream_or_string: string, mod_kwargs = {}) =>
    call(slsutil.deserialize, { serializer, stream_or_string, mod_kwargs })

  test('json has the spacing of Python, and its options', async () => {
    expect(await there('json', { b: 1, a: [1, 'ä'] })).toBe('{"b": 1, "a": [1, "ä"]}')
    expect(await there('json', { b: 1, a: 2 }, { sort_keys: true, indent: 2 })).toBe(
      '{\n  "a": 2,\n  "b": 1\n}',
    )
    expect(await there('json', { b: 1, a: [1, 2] }, { separators: [',', ':'] })).toBe('{"b":1,"a":[1,2]}')
    expect(await there('json', { a: [1, 2] }, { separators: [' ;', '='], indent: 1 })).toBe(
      '{\n "a"=[\n  1 ;\n  2\n ]\n}',
    )
    expect(await there('json', 'ä😀', { ensure_ascii: true })).toBe('"\\u00e4\\ud83d\\ude00"')
    await expect(there('json', {}, { separators: ',' })).rejects.toThrow('must be a list of two texts')
    expect(await back('json', '{"foo": "Foo!"}')).toEqual({ foo: 'Foo!' })
  })

  test.each([
    [{ title: 'x', owner: { name: 'Tom', n: 5 } }, 'title = "x"\n\n[owner]\nname = "Tom"\nn = 5\n'],
    [{ a: { k: 1, b: { c: 2 } }, d: 3 }, 'd = 3\n\n[a]\nk = 1\n\n[a.b]\nc = 2\n'],
    [{ x: { e: {}, y: { z: 1 } } }, '[x.e]\n\n[x.y]\nz = 1\n'],
    [{ l: [], m: [[1], ['a', true]], n: null }, 'l = []\nm = [ [ 1,], [ "a", true,],]\n'],
    [{ f: new Number(1), g: 1.5, 'a b': '"' }, 'f = 1.0\ng = 1.5\n"a b" = "\\""\n'],
    [
      { l: [{ a: 1, b: { c: 2 } }, { a: [{ q: 1 }] }], z: 1 },
      'z = 1\n[[l]]\na = 1\n\n[l.b]\nc = 2\n[[l]]\n\n[[l.a]]\nq = 1\n\n',
    ],
    [
      { t: { l: [{ a: 1 }, { b: { c: { d: 1 } } }], k: 1 } },
      '[t]\nk = 1\n[[t.l]]\na = 1\n\n[[t.l]]\n\n[t.l.b.c]\nd = 1\n',
    ],
  ])('toml writes %j in the layout of Python', async (given, text) => {
    expect(await there('toml', given)).toBe(text)
  })

  test('toml is parsed, and written again unchanged', async () => {
    const given = { a: 'x"\n\x7f', f: new Number(1), l: [{ n: 1, m: { o: [1.5] } }] }
    expect(await back('toml', (await there('toml', given)) as string)).toEqual(given)
    expect(await back('toml', 'n = 99999999999999999999\nd = 2020-01-02')).toEqual({
      n: 99999999999999999999n,
      d: '2020-01-02',
    })
    await expect(back('toml', 'broken =')).rejects.toThrow('The text is no valid toml: ')
    await expect(there('toml', [1])).rejects.toThrow('toml takes a map.')
    await expect(there('toml', { l: [{}, 1] })).rejects.toThrow("The list 'l' has maps and other values.")
  })

  test('yaml is sorted, with the innermost collections on one line', async () => {
    expect(await there('yaml', value)).toBe("a:\n- 1\n- {y: 'yes'}\nb: 1\nt: 'a: b'\nz: null")
    expect(await there('yaml', { a: 1 })).toBe('{a: 1}')
    expect(await there('yaml', { a: [1] }, { default_flow_style: false })).toBe('a:\n- 1')
    expect(await there('yaml', { a: [1] }, { default_flow_style: true })).toBe('{a: [1]}')
    expect(await there('yaml', { b: 1, a: 'ü' }, { sort_keys: false, allow_unicode: true })).toBe(
      '{b: 1, a: ü}',
    )
    expect(await there('yaml', { a: { b: [1] } }, { indent: 4 })).toBe('a:\n    b: [1]')
    expect(await there('yaml', 'text')).toBe('text')
  })

  test('yaml has the floats, the quotes and the escapes of PyYAML', async () => {
    expect(await there('yaml', new Number(1))).toBe('1.0')
    expect(await there('yaml', 'ü')).toBe('"\\xFC"')
    expect(await there('yaml', 'two\nlines')).toBe("'two\n\n  lines'")
    expect(await there('yaml', { n: 1, q: "it's" })).toBe("{n: 1, q: it's}")
  })

  test('refuses YAML that is nested so deep that the parser would end the process', async () => {
    for (const text of ['['.repeat(3000), '- '.repeat(3000), '? '.repeat(3000)])
      await expect(back('yaml', text)).rejects.toThrow('it is nested more than 200 levels deep')
    const nested = `${'- '.repeat(100)}x`
    expect(JSON.stringify(await back('yaml', nested))).toBe(`${'['.repeat(100)}"x"${']'.repeat(100)}`)
  })

  test('python and keyvalue write values as in Python', async () => {
    const given = { a: { b: [1, null, true, 1.5] } }
    expect(await there('python', given)).toBe("{'a': {'b': [1, None, True, 1.5]}}")
    expect(await there('keyvalue', given)).toBe("a={'b': [1, None, True, 1.5]}")
    await expect(back('python', '{}')).rejects.toThrow("Serializer 'python' does not implement deserialize.")
  })

  test('yaml is read as version 1.1, dates as text', async () => {
    expect(await back('yaml', 'a: [1, 0644, yes, ~, 2020-01-02]')).toEqual({
      a: [1, 420, true, null, '2020-01-02'],
    })
    expect(await back('yaml', '{x: y, n: 1e3, f: !!str 1}')).toEqual({ x: 'y', n: '1e3', f: '1' })
    expect(await back('yaml', '[1.0, 1.5, a: 1]')).toEqual([new Number(1), 1.5, { a: 1 }])
    await expect(back('yaml', '!!python/object:x {}')).rejects.toThrow('The text is no valid yaml: ')
    expect(await back('yaml', '')).toBeNull()
  })

  test('keyvalue writes and reads lines', async () => {
    expect(await there('keyvalue', { a: 'x y', b: 1 })).toBe('a=x y\nb=1')
    expect(await there('keyvalue', [['a', "it's"]], { quoting: true, separator: ': ' })).toBe(`a: 'it'"'"'s'`)
    expect(await back('keyvalue', 'a="x=y"\nb=1\n', { quoting: false })).toEqual({ a: 'x=y', b: '1' })
    await expect(there('keyvalue', 'x')).rejects.toThrow('Input validation failed. Iterable required.')
    await expect(back('keyvalue', 'a=1\nb')).rejects.toThrow("Line 2 has no '=' in it: b")
  })

  test('configparser writes and reads INI files as Python does', async () => {
    expect(await there('configparser', { a: { B: true, c: 'x\ny' }, e: {}, DEFAULT: { z: 1 } })).toBe(
      '[DEFAULT]\nz = 1\n\n[a]\nb = True\nc = x\n\ty\n\n[e]\n\n',
    )
    expect(
      await back(
        'configparser',
        '[DEFAULT]\nz = 9\n[a]\n; no\nB: %(z)s/50%%\n  more\n\n  again\n\nc=\n[b c]\n',
      ),
    ).toEqual({
      a: { z: '9', b: '9/50%\nmore\n\nagain', c: '' },
      'b c': { z: '9' },
    })
  })

  test.each([
    [{ a: 1 }, "The section 'a' must be a map."],
    [[1], 'configparser takes a map of sections.'],
    [{ a: { b: null } }, "The value of 'b' must not be None."],
    [{ a: { b: '%%5%' } }, "invalid interpolation syntax in '%%5%' at position 3"],
  ])('configparser does not write %j', async (given, reason) => {
    await expect(there('configparser', given)).rejects.toThrow(reason)
  })

  test.each([
    ['b = 1', 'Line 1 of the INI file is in no section: b = 1'],
    ['[a]\n[a]', 'Line 2 of the INI file begins a section again: [a]'],
    ['[a]\nb=1\nB=2', 'Line 3 of the INI file sets a key again: B=2'],
    ['[a]\nb', 'Line 2 of the INI file is neither a section nor a key with a value: b'],
    ['[a]\nb=5%', "'%' must be followed by '%' or '(', found in the value '5%' of the INI file."],
    ['[a]\nb=%(c)s', "The value '%(c)s' of the INI file names 'c', which is not there."],
    ['[a]\nb=%(b)s', "The value '%(b)s' of the INI file names itself."],
  ])('configparser does not read %j', async (text, reason) => {
    await expect(back('configparser', text)).rejects.toThrow(reason)
  })

  test('json and yaml are parsed again unchanged', async () => {
    for (const name of ['json', 'yaml'])
      expect(await back(name, (await there(name, value)) as string)).toEqual(value)
    const bytes = (await there('msgpack', value)) as Uint8Array
    expect(await back('msgpack', Buffer.from(bytes).toString('latin1'))).toEqual(value)
  })

  test('an invalid text is an error that names the format', async () => {
    await expect(back('json', '{')).rejects.toThrow('The text is no valid json: ')
    await expect(back('yaml', 'a: [1,')).rejects.toThrow('The text is no valid yaml: ')
    await expect(back('nope', '')).rejects.toThrow("Serializer 'nope' not found.")
  })
})

describe('renderer', () => {
  let folder: string
  beforeAll(async () => {
    folder = await temporaryFolder('salt-ts-slsutil-')
  })
  afterAll(() => removeFolder(folder))

  test('reads YAML and JSON, of a text or a file', async () => {
    expect(await call(slsutil.renderer, { string: 'a: [1, 2]', default_renderer: 'yaml' })).toEqual({
      a: [1, 2],
    })
    const path = join(folder, 'map.sls')
    await writeFile(path, '#!json\n{"a": 1}')
    const context = fakeContext({ call: (async () => path) as unknown as Context['call'] })
    expect(await call(slsutil.renderer, { path }, context)).toEqual({ a: 1 })
  })

  test('renders Jinja with the keywords as variables, and then YAML or JSON', async () => {
    expect(await call(slsutil.renderer, { string: 'a: {{ x + 1 }}', kwargs: { x: 1 } })).toEqual({ a: 2 })
    expect(await call(slsutil.renderer, { string: '#!jinja|json\n{"a": 1}' })).toEqual({ a: 1 })
  })

  test('returns a text without marks of Jinja as it is', async () => {
    const default_renderer = 'jinja'
    expect(await call(slsutil.renderer, { string: 'a: b\n', default_renderer })).toBe('a: b\n')
    expect(await call(slsutil.renderer, { string: '#!jinja\na: b' })).toBe('#!jinja\na: b')
  })

  test('reports an error in a template, and refuses anything but one source', async () => {
    await expect(call(slsutil.renderer, { string: 'a: {{ b }}' })).rejects.toThrow("'b' is undefined; line 1")
    await expect(call(slsutil.renderer, { string: 'a', default_renderer: 'gpg' })).rejects.toThrow(
      "The renderer 'gpg' is not available: there are jinja, yaml and json.",
    )
    await expect(call(slsutil.renderer)).rejects.toThrow('Must pass either path or string')
    await expect(call(slsutil.renderer, { path: 'a', string: 'b' })).rejects.toThrow(
      'Must not pass both path and string',
    )
    const context = fakeContext({ call: (async () => false) as unknown as Context['call'] })
    await expect(call(slsutil.renderer, { path: 'salt://a' }, context)).rejects.toThrow(
      'salt://a is not on the file server.',
    )
  })
})

describe('banner', () => {
  test('is a box of comment lines', async () => {
    expect(await call(slsutil.banner)).toBe(
      [
        '#'.repeat(72),
        `#${' '.repeat(70)}#`,
        '#              THIS FILE IS MANAGED BY SALT - DO NOT EDIT              #',
        `#${' '.repeat(70)}#`,
        '# The contents of this file are managed by Salt. Any changes to this   #',
        '# file may be overwritten automatically and without warning.           #',
        '#'.repeat(72),
      ].join('\n'),
    )
  })

  test('may be a block comment', async () => {
    const style = { commentchar: ' *', borderchar: '*', blockstart: '/**', blockend: ' */', newline: true }
    expect(await call(slsutil.banner, { ...style, width: 16, title: 'Abc', text: 'one two-four' })).toBe(
      [
        '/**',
        ' ***************',
        ' *             *',
        ' *     Abc     *',
        ' *             *',
        ' * one two-    *',
        ' * four        *',
        ' ***************',
        ' */',
        '',
      ].join('\n'),
    )
  })

  test('cuts words that are longer than the line where the line ends', async () => {
    const text = 'a contents-of-files itten automatic'
    const lines = [
      '##########',
      '#        #',
      '#   T    #',
      '#        #',
      '# a cont #',
      '# ents-  #',
      '# of-    #',
    ]
    expect(await call(slsutil.banner, { width: 10, title: 'T', text })).toBe(
      [...lines, '# files  #', '# itten  #', '# automa #', '# tic    #', '##########'].join('\n'),
    )
  })

  test('needs a minimum width', async () => {
    await expect(call(slsutil.banner, { width: 4 })).rejects.toThrow('Width is too small to render banner')
  })
})

test('boolstr chooses as in Python', async () => {
  const choose = (value: unknown) => call(slsutil.boolstr, { value, true: 'yes', false: 'no' })
  for (const value of [true, 1, 'x', [0], { a: 1 }]) expect(await choose(value)).toBe('yes')
  for (const value of [false, 0, '', [], {}, new Map(), null, Object(0)])
    expect(await choose(value)).toBe('no')
})

describe('The state tree', () => {
  const listed: Record<string, string[]> = {
    'cp.list_master': ['top.sls', 'web/map.jinja', 'web/nginx/init.sls'],
    'cp.list_master_dirs': ['web', 'web/nginx', 'web/nginx/files'],
  }
  let asked: string[]
  const context = () => {
    asked = []
    const list = async (name: string) => {
      asked.push(name)
      return listed[name]
    }
    return fakeContext({ call: list as unknown as Context['call'] })
  }

  test('has files and folders', async () => {
    const shared = context()
    expect(await call(slsutil.file_exists, { path: 'web/map.jinja' }, shared)).toBe(true)
    expect(await call(slsutil.file_exists, { path: 'web' }, shared)).toBe(false)
    expect(await call(slsutil.dir_exists, { path: 'web' }, shared)).toBe(true)
    expect(await call(slsutil.path_exists, { path: 'web' }, shared)).toBe(true)
    expect(asked).toEqual(['cp.list_master', 'cp.list_master_dirs'])
  })

  test('is searched upwards', async () => {
    const find = (startpath: string, filenames: string | string[]) =>
      call(slsutil.findup, { startpath, filenames }, context())
    expect(await find('web/nginx/files', 'map.jinja')).toBe('web/map.jinja')
    expect(await find('web/nginx/', ['none', 'top.sls'])).toBe('top.sls')
    expect(await find('', 'top.sls')).toBe('top.sls')
    await expect(find('web', 'none')).rejects.toThrow('File pattern(s) not found in path ancestry')
    await expect(find('mail', 'top.sls')).rejects.toThrow('Starting path not found in the state tree: mail')
  })
})
