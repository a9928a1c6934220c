import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { untyped } from '../../../core/author/calls.ts'
import type { Context } from '../../../core/author/index.ts'
import { createContext, type LoaderSettings, openLoader, refusalsHere } from '../../../core/loader/index.ts'
import { createLogger } from '../../../core/log/index.ts'
import { quietLog } from '../../harness/log.ts'
import { SLOW } from '../../harness/slow.ts'
import { eventually, until } from '../../harness/until.ts'
import { call, extensionFolder } from './folder.ts'

/** What a file that is being loaded waits for. */
interface Gate {
  letLoad(): void
}

const fixtures = path.resolve(import.meta.dirname, '../../fixtures')
const folder = extensionFolder()
const { put, open } = folder
const openFixtures = (config: object = {}, settings: Partial<LoaderSettings> = {}) =>
  openLoader('modules', {
    config: { module_dirs: [fixtures, path.join(fixtures, 'broken')], ...config },
    log: quietLog,
    timeoutMs: 5000,
    ...settings,
  })

describe('finding functions', () => {
  test("a user's TypeScript file imports salt-ts and helpers from anywhere, without a package.json", async () => {
    await put(
      'modules/hello.ts',
      `import { fn, p } from 'salt-ts'\nimport { shout } from './_shout.ts'\n
      export const hi = fn({ who: p.string() }, ({ who }) => shout(who))`.replaceAll('\n      ', '\n'),
    )
    await put('modules/_shout.ts', 'export const shout = (text: string): string => text.toUpperCase()\n')
    expect(await call(open(), 'hello.hi', ['bob'])).toBe('BOB')
  })
  test('a JavaScript file imports salt-ts and helpers, too, and npm packages beside it', async () => {
    await put('node_modules/dep/package.json', '{"name":"dep","main":"index.js"}')
    await put('node_modules/dep/index.js', 'module.exports = { value: 7 }')
    await put(
      'modules/plain.js',
      `import { fn } from 'salt-ts'\nimport dep from 'dep'\nexport const get = fn(() => dep.value)\n`,
    )
    expect(await call(open(), 'plain.get')).toBe(7)
  })
  test('a folder of module_dirs can contain the modules itself', async () => {
    await put('hello.ts', 'export const hi = () => 1\n')
    expect(await call(open(), 'hello.hi')).toBe(1)
  })
  test('CommonJS, folders with an index and aliases work', async () => {
    await put('modules/old.cjs', 'exports.add = (a, b) => a + b\n')
    await put(
      'modules/folder/index.ts',
      `import { fn } from 'salt-ts'\nconst remove = fn(() => 'gone')\nexport { remove as delete }\n`,
    )
    const loader = open()
    expect(await call(loader, 'old.add', [1, 2])).toBe(3)
    expect(await call(loader, 'folder.delete')).toBe('gone')
  })
  test('plain functions get positional values unchanged; values, classes and helpers are no functions', async () => {
    const loader = openFixtures()
    expect(await call(loader, 'plain.add', ['a', 1])).toBe('a1')
    expect(await call(loader, 'plain.NAME')).toMatch(
      /^'plain.NAME' is not available\. .*it exports 'NAME', but that is text and no function;/,
    )
    expect(await call(loader, 'plain.Thing')).toBe("'plain.Thing' is not available.")
    expect(await call(loader, '_helper.hidden')).toBe("'_helper.hidden' is not available.")
    expect((await loader.get('plain.add'))?.params).toHaveProperty('args.kind', 'rest')
  })
  test('a function has its declared outputter', async () => {
    const loader = openFixtures()
    expect((await loader.get('greet.hello'))?.outputter).toBe('txt')
    expect(await loader.get('greet.delete')).not.toHaveProperty('outputter')
  })
  test('built-in modules are available', async () => {
    expect(await call(open(), 'test.ping')).toBe(true)
  })
  test('names of Object members are no functions', async () => {
    const loader = openFixtures()
    for (const name of ['plain.constructor', 'constructor.name', '__proto__.x', 'plain', '']) {
      expect(await loader.get(name)).toBeUndefined()
    }
  })
})

describe('precedence', () => {
  const provider = (text: string, virtualName = '') =>
    `${virtualName && `export const virtualName = '${virtualName}'\n`}export const who = () => '${text}'\n`

  test('-m precedes extension_modules, which precede built-in ones, and the last -m comes first', async () => {
    await put('a/modules/mod.js', provider('a'))
    await put('b/modules/mod.js', provider('b'))
    await put('ext/modules/mod.js', provider('ext'))
    await put('ext/modules/test.js', provider('my test'))
    const extension_modules = path.join(folder.path, 'ext')
    const module_dirs = [path.join(folder.path, 'a'), path.join(folder.path, 'b')]
    expect(await call(open({ module_dirs, extension_modules }), 'mod.who')).toBe('b')
    expect(await call(open({ module_dirs: [], extension_modules }), 'mod.who')).toBe('ext')
    const loader = open({ module_dirs, extension_modules })
    expect(await call(loader, 'test.who')).toBe('my test')
    expect(await call(loader, 'test.ping')).toMatch(
      /^'test\.ping' is not available\. Possible reasons: '\S+modules\/test\.ts is hidden by \S+ext\/modules\/test\.js'$/,
    )
  })
  test('_modules and the folder itself serve as well', async () => {
    await put('_modules/one.js', provider('one'))
    await put('direct/two.js', provider('two'))
    const loader = open({ module_dirs: [folder.path, path.join(folder.path, 'direct')] })
    expect([await call(loader, 'one.who'), await call(loader, 'two.who')]).toEqual(['one', 'two'])
  })
  test(
    'several files provide one name: the first with a function wins, others add theirs',
    SLOW,
    async () => {
      await put('modules/apt.js', `${provider('apt', 'pkg')}export const hold = () => 'apt'\n`)
      await put('modules/zypper.js', `${provider('zypper', 'pkg')}export const lock = () => 'zypper'\n`)
      const loader = open()
      const calls = ['pkg.who', 'pkg.hold', 'pkg.lock', 'apt.who'].map((name) => call(loader, name))
      expect(await Promise.all(calls)).toEqual([
        'apt',
        'apt',
        'zypper',
        "'apt.who' is not available. Possible reasons: 'apt is offered as pkg'",
      ])
      expect(await loader.view.functions('pkg.*')).toEqual(['pkg.hold', 'pkg.lock', 'pkg.who'])
      expect((await loader.view.providers()).pkg).toBe(path.join(folder.path, 'modules/apt.js'))
    },
  )
  test('a module comes from the file of its name, then from files whose names contain it, then from others', async () => {
    await put('modules/a_corp.js', `${provider('corp', 'pkg')}export const only = () => 'corp'\n`)
    await put('modules/b_aptpkg.js', `${provider('aptpkg', 'pkg')}export const hold = () => 'aptpkg'\n`)
    const loader = open()
    const calls = ['pkg.who', 'pkg.hold', 'pkg.only'].map((name) => call(loader, name))
    expect(await Promise.all(calls)).toEqual(['aptpkg', 'aptpkg', 'corp'])
    await put('modules/pkg.js', provider('pkg'))
    expect(await call(open(), 'pkg.who')).toBe('pkg')
  })
  test('a file that replaces a built-in one causes a warning when it is loaded, with the functions that are missing', async () => {
    const cmd = await put(
      'modules/cmd.js',
      `export const run = () => 'mine'\nexport const run_all = () => 'mine'\n`,
    )
    const lines: string[] = []
    const loader = open({}, { log: { ...quietLog, warn: (line) => lines.push(line) } })
    expect(await loader.overrides()).toEqual([{ path: cmd, sentence: expect.any(String) }])
    expect(await loader.isBuiltIn('test.ping')).toBe(true)
    expect(await loader.isBuiltIn('cmd.run')).toBe(false)
    expect(lines).toEqual([])
    expect(await call(loader, 'cmd.run')).toBe('mine')
    expect(lines).toEqual([
      expect.stringMatching(
        /^\S+modules\/cmd\.js is used instead of the built-in cmd of the modules, and lacks some of its functions: cmd\.\w+, .* and \d+ more are not available\.$/,
      ),
    ])
    expect(await call(loader, 'cmd.retcode')).toMatch(/is hidden by \S+modules\/cmd\.js'$/)
  })
  test.each([
    [{ disable_modules: ['test'] }, false],
    [{ whitelist_modules: ['cmd'] }, false],
    [{ providers: { test: 'mine' } }, false],
    [{}, true],
  ])(
    'an override of a built-in module in the configuration applies to its new name: %j',
    async (config, is) => {
      await put('modules/mine.js', provider('mine', 'test'))
      expect(await open(config).isBuiltIn('test.ping')).toBe(is)
    },
  )
  test('disabled modules and those not on the whitelist are absent, with a reason', SLOW, async () => {
    await put('modules/mod.js', provider('x'))
    const disabled = open({ disable_modules: ['mod'] })
    expect(await call(disabled, 'mod.who')).toBe(
      "'mod.who' is not available. Possible reasons: 'mod is disabled: it is listed in disable_modules'",
    )
    expect(await disabled.view.modules('mod')).toEqual([])
    const whitelisted = open({ whitelist_modules: ['test'] })
    expect(await call(whitelisted, 'mod.who')).toContain('mod is not in whitelist_modules')
    expect(await whitelisted.view.modules()).toEqual(['test'])
  })
})

describe('parameters of a function, which decide what of a call may be shown', () => {
  const login = `import { fn, p } from 'salt-ts'\nexport const login = fn({ word: p.secret(p.string()) }, () => 1)\n`

  test('are known of a module that was added, or repaired, after others were loaded', async () => {
    const loader = open()
    expect(await loader.params('test.ping')).toEqual({})
    expect(await loader.params('late.login')).toBeUndefined()
    await put('modules/late.js', 'throw new Error()\n')
    await expect(loader.params('late.login')).rejects.toMatchObject({ code: 'MODULE_FAILED' })
    await put('modules/late.js', login)
    expect(await loader.params('late.login')).toMatchObject({ word: { secret: true } })
  })
  test('are an error for a module that hangs or must not be used, without a long wait', async () => {
    await put('modules/hangs.js', `await new Promise(() => {})\n${login}`)
    await put('modules/mod.js', login)
    const loader = open({ disable_modules: ['mod'] }, { timeoutMs: 50 })
    for (const name of ['hangs.login', 'mod.login']) {
      await expect(loader.params(name)).rejects.toMatchObject({
        code: 'MODULE_FAILED',
        message: expect.stringContaining(name),
      })
    }
  })
})

describe('virtual', () => {
  test('the reason is found by the name of the module', async () => {
    await put('modules/aptpkg.js', `export const virtualName = 'pkg2'\nexport const virtual = 'needs apt'\n`)
    const loader = open()
    expect(await call(loader, 'pkg2.install')).toBe("'pkg2' __virtual__ returned False: needs apt (aptpkg)")
    await put('modules/pkg2.js', `export const virtual = () => 'needs more'\n`)
    await loader.reload()
    expect(await call(loader, 'pkg2.install')).toBe(
      "'pkg2' __virtual__ returned False: needs more; needs apt (aptpkg)",
    )
  })
  test('false without a reason, true, and facts', SLOW, async () => {
    expect(await call(openFixtures(), 'falsy.never')).toBe("'falsy' __virtual__ returned False")
    expect(await call(openFixtures(), 'pkg.install')).toBe('installed by provides')
    expect(await call(openFixtures({}, { grains: { os: 'Debian' } }), 'pkg.install')).toBe(
      'installed by provides',
    )
    const only = openFixtures({ disable_modules: ['provides'] }, { grains: { os: 'Debian' } })
    expect(await call(only, 'pkg.install')).toBe('installed by refuses')
  })
  test.each([
    [
      'virtual = () => undefined',
      'virtual failed: it gives undefined, not true, false or a text with the reason',
    ],
    ['virtual = 1', 'virtual failed: it gives a number, not true, false or a text with the reason'],
    ["virtualName = ['pkg']", 'virtualName failed: it is a list, not text'],
    ["virtualAliases = 'pkgs'", 'virtualAliases failed: it is not a list of texts'],
  ])('%s is an error, and not a refusal without a reason', async (declared, reason) => {
    await put('modules/a.js', `export const ${declared}\nexport const f = () => 1\n`)
    expect(await call(open(), 'a.f')).toContain(`a.js: ${reason}`)
  })
  test('aliases provide the same functions; init runs before virtual, and its failure is a reason', async () => {
    await put(
      'modules/a.js',
      `let ready\nexport const init = () => { ready = true }\nexport const virtual = () => ready\nexport const virtualAliases = ['b']\nexport const f = () => 1\n`,
    )
    await put(
      'modules/c.js',
      `export const init = () => { throw new Error('no disk') }\nexport const f = () => 1\n`,
    )
    const loader = open()
    expect([await call(loader, 'a.f'), await call(loader, 'b.f')]).toEqual([1, 1])
    expect(await call(loader, 'c.f')).toContain('c.js: init failed: no disk')
  })
  test('functions made by fn are public, whatever their names', async () => {
    const text = ['init', 'load', 'virtual', 'outputter'].map((n) => `export const ${n} = fn(() => '${n}')`)
    await put('modules/odd.js', `import { fn } from 'salt-ts'\n${text.join('\n')}\n`)
    const loader = open()
    expect(await loader.view.functions('odd.*')).toEqual([
      'odd.init',
      'odd.load',
      'odd.outputter',
      'odd.virtual',
    ])
    expect(await call(loader, 'odd.virtual')).toBe('virtual')
  })
  test.each([
    ['functions', '[a, c]'],
    ['names', "['a', 'd']"],
    ['both', "['a', c]"],
  ])('load defines the public functions: %s', SLOW, async (_, load) => {
    await put(
      'modules/some.js',
      `export const a = () => 1\nexport const b = () => 2\nconst c = () => 3\nexport { c as d }\nexport const load = ${load}\n`,
    )
    const loader = open()
    expect(await loader.view.functions('some.*')).toEqual(['some.a', 'some.d'])
    expect([await call(loader, 'some.a'), await call(loader, 'some.d')]).toEqual([1, 3])
    expect(await loader.get('some.b')).toBeUndefined()
    expect(Object.keys((await loader.describe()).functions).filter((name) => /^some/.test(name))).toEqual([
      'some.a',
      'some.d',
    ])
  })
  test.each([
    [
      "['nosuch']",
      "load lists 'nosuch', which the file does not export; write 'export const ping = fn(…)' for each function",
    ],
    [
      '[hidden]',
      "load has an item, load[0], that the file does not export; write 'export const ping = fn(…)' for each function",
    ],
    ["'a'", "load is not a list; write 'export const load = [ping, echo]' with functions of the file"],
  ])('a load that cannot be followed is an error with a reason: %s', async (load, sentence) => {
    const file = await put(
      'modules/some.js',
      `export const a = () => 1\nconst hidden = () => 2\nexport const load = ${load}\n`,
    )
    expect(await call(open(), 'some.a')).toBe(
      `'some.a' is not available. Possible reasons: '${file}: ${sentence}'`,
    )
  })
  test('names that begin with _ are private for all callers', SLOW, async () => {
    const file = await put(
      'modules/some.ts',
      "import { fn } from 'salt-ts'\nexport const _secret = fn(() => 1)\nexport function _plain() {}\n" +
        "export const open = fn((_, { call }) => call('some._secret'))\nexport const load = ['open', '_secret']\n",
    )
    const loader = open()
    expect(await loader.view.functions('some.*')).toEqual(['some.open'])
    expect(await loader.params('some._secret')).toBeUndefined()
    expect(await loader.view.doc('some._secret')).toBeUndefined()
    expect(await loader.view.argspec('some._secret')).toBeUndefined()
    expect(Object.keys((await loader.describe()).functions)).not.toContain('some._secret')
    expect(await refusalsHere([{ fun: 'some._secret', arg: [] }], loader)).toEqual([
      `'some._secret' is not available. Possible reasons: '${file}: '_secret' is private, as all names that begin with _ are'`,
    ])
    const context = createContext({} as Context, loader)
    await expect(context.call(untyped('some.open'), [])).rejects.toThrow("'some._secret' is not available")
  })
})

describe('broken files', () => {
  const inFixture = (name: string) => path.join(fixtures, name)

  test.each([
    ['throws.x', 'modules/throws.js', '3: Error: broken on purpose'],
    ['syntax.a', 'broken/modules/syntax.ts', '3: SyntaxError: Unexpected "="'],
    ['syntaxjs.a', 'broken/modules/syntaxjs.js', "4: SyntaxError: Unexpected token '='"],
  ])('%s is reported with file, line and reason', async (name, file, reason) => {
    expect(await call(openFixtures(), name)).toBe(
      `'${name}' is not available. Possible reasons: '${inFixture(file)}:${reason}'`,
    )
  })
  test('a module that hangs on import is given up, without effect on others', SLOW, async () => {
    const loader = openFixtures({}, { timeoutMs: 1500 })
    const [hanging, other] = await Promise.all([
      call(loader, 'hangs.never'),
      call(loader, 'plain.add', [1, 1]),
    ])
    expect(hanging).toContain('hangs.js: did not finish loading within 1.5 s')
    expect(other).toBe(2)
  })
  test('a module that was given up and loads later is used by the next call', async () => {
    await put(
      'modules/slow.js',
      'await new Promise((load) => Object.assign(globalThis, { letLoad: load }))\nexport const f = () => 1\n',
    )
    const loader = open({}, { timeoutMs: 50 })
    expect(await call(loader, 'slow.f')).toContain('did not finish loading within 0.05 s')
    const { letLoad } = await until(
      'the module to load',
      () => 'letLoad' in globalThis && (globalThis as unknown as Gate),
    )
    letLoad()
    await eventually(async () => expect(await call(loader, 'slow.f')).toBe(1))
  })
  test('a circle of imports is named with both files and their lines', async () => {
    const first = await put(
      'modules/first.js',
      `import { b } from './second.js'\nexport const a = () => b\nexport const half = 1\n`,
    )
    const second = await put(
      'modules/second.js',
      `\nimport { half } from './first.js'\nexport const b = half + 1\n`,
    )
    const loader = open()
    const circle = `circular import: ${second}:2 imports ${first}, and ${first}:1 imports ${second}; so 'half' is not set yet when ${second}:3 uses it. Move the shared code to a third file.`
    expect(await call(loader, 'first.a')).toBe(
      `'first.a' is not available. Possible reasons: '${first}: ${circle}'`,
    )
  })
  test('a missing library is named', async () => {
    await put('modules/needy.js', `import lib from 'nosuchlib'\nexport const f = () => lib\n`)
    expect(await call(open(), 'needy.f')).toContain("Cannot find package 'nosuchlib'")
  })
  test('all failed files can be listed', async () => {
    await put('modules/bad.js', 'throw 5\n')
    const failures = Object.entries(await open().view.failures())
    const own = failures.filter(([file]) => file.startsWith(folder.path))
    expect(Object.fromEntries(own)).toEqual({
      [path.join(folder.path, 'modules/bad.js')]: `${path.join(folder.path, 'modules/bad.js')}: threw 5`,
    })
  })
})

describe('listing and documentation', () => {
  test('listing and documenting imports no file', async () => {
    await put('modules/bomb.js', `/** Boom. */\nexport const tick = () => 1\nthrow new Error('imported')\n`)
    const loader = open()
    expect(await loader.view.functions('bomb.*')).toEqual(['bomb.tick'])
    expect(await loader.view.doc('bomb.tick')).toBe('Boom.')
  })
  test('a missing function is reported without an import', async () => {
    await put('modules/bomb.js', `export const tick = () => 1\nthrow new Error('imported')\n`)
    const errors: string[] = []
    const loader = open({}, { log: { ...quietLog, error: (line) => errors.push(line) } })
    expect(await call(loader, 'nosuch.fun')).toBe("'nosuch.fun' is not available.")
    expect(errors).toEqual([])
  })
  test('documentation has the examples in the form of Salt', async () => {
    const { view } = openFixtures()
    expect(await view.doc('greet')).toBe('Greetings, for tests of the loader.')
    expect(await view.doc('greet.delete')).toBeUndefined()
    expect(await view.doc('greet.hello')).toBe(
      [
        'Say hello.',
        '',
        'More than one line of it.',
        '',
        'CLI Example:',
        '',
        "    salt '*' greet.hello world",
        "    salt '*' greet.hello world times=2",
      ].join('\n'),
    )
  })
  test('argspec is as in Salt', async () => {
    const { view } = openFixtures()
    expect(await view.argspec('greet.hello')).toEqual({
      args: ['who', 'times'],
      defaults: [1],
      varargs: null,
      kwargs: null,
    })
    expect(await view.argspec('plain.add')).toEqual({
      args: null,
      defaults: null,
      varargs: true,
      kwargs: null,
    })
    expect(await view.argspec('no.such')).toBeUndefined()
  })
  test('other kinds of extensions are listed in the same way', async () => {
    const { view } = open()
    expect(await view.of('runners')?.modules()).toContain('test')
    expect(view.of('nonsense')).toBeUndefined()
  })
})

describe('reload', () => {
  test('loads the new code, helpers included, while running functions keep the old', async () => {
    const helper = (n: number) => put('modules/_part.ts', `export const part = (): number => ${n}\n`)
    await helper(1)
    await put('modules/mod.ts', `import { part } from './_part.ts'\nexport const get = () => part()\n`)
    const loader = open()
    const old = await loader.get('mod.get')
    await helper(2)
    await loader.reload()
    expect(await call(loader, 'mod.get')).toBe(2)
    expect(await old?.run(old.bind([], {}), {} as Context)).toBe(1)
  })
  test('works for CommonJS, too', async () => {
    await put('modules/old.cjs', 'exports.get = () => 1\n')
    const loader = open()
    expect(await call(loader, 'old.get')).toBe(1)
    await put('modules/old.cjs', 'exports.get = () => 22\n')
    await loader.reload()
    expect(await call(loader, 'old.get')).toBe(22)
  })
  test('a file that is added, changed or repaired is found when a missing function of it is called', async () => {
    const loader = open()
    expect(await call(loader, 'late.a')).toBe("'late.a' is not available.")
    await put('modules/late.js', 'export const a = = 1\n')
    expect(await call(loader, 'late.a')).toContain('SyntaxError')
    await put('modules/late.js', `export const a = () => 'repaired'\n`)
    expect(await call(loader, 'late.a')).toBe('repaired')
    await put('modules/late.js', `export const b = () => 'added'\n`)
    expect(await call(loader, 'late.b')).toBe('added')
    expect(await call(loader, 'late.a')).toBe("'late.a' is not available.")
  })
})

test('a default that does not fit its declaration is reported when the file is loaded', async () => {
  const text = `import { fn, p } from 'salt-ts'
export const of = fn({ count: p.default(p.integer(), 'x') }, ({ count }) => count)
`
  const file = await put('modules/size.js', text)
  const loader = open()
  expect(await loader.get('size.of')).toBeUndefined()
  expect(await loader.why('size.of')).toContain(
    `${file}: the default of a parameter of 'of' does not fit its declaration: 'count' must be an integer, not "x"`,
  )
})

describe('plugins', () => {
  const openOutputters = () =>
    openLoader('outputters', { config: { outputter_dirs: [path.join(folder.path, 'out')] }, log: quietLog })

  test('are the default exports of files', async () => {
    await put(
      'out/loud.ts',
      `import { outputter } from 'salt-ts'\nexport default outputter({ render: (v) => String(v) + '!' })\n`,
    )
    const loader = openOutputters()
    expect(await loader.pluginNames()).toContain('loud')
    const plugin = await loader.plugin<{ render(value: unknown): string }>('loud')
    expect(plugin.render('x')).toBe('x!')
  })
  test('a plugin that was added after others were loaded is found without a restart', async () => {
    const loader = open({}, {}, 'outputters')
    await expect(loader.plugin('late')).rejects.toThrow("There is no 'late' in the outputters.")
    await put('outputters/late.js', `export default { render: () => 'late' }\n`)
    expect((await loader.plugin<{ render(): string }>('late')).render()).toBe('late')
  })
  test('an unknown one is refused with the known names, a broken one with the reason', async () => {
    await put('out/loud.js', 'export default { render: String }\n')
    await put('out/half.js', 'export default { print() {} }\n')
    const loader = openOutputters()
    await expect(loader.plugin('lout')).rejects.toThrow(
      /There is no 'lout' in the outputters.*loud.*Did you mean 'loud'/,
    )
    await expect(loader.plugin('half')).rejects.toMatchObject({
      code: 'MODULE_FAILED',
      message: expect.stringContaining('its default export has no render()'),
    })
  })
})

describe('the context', () => {
  const base = (): Parameters<typeof createContext>[0] =>
    ({
      opts: {},
      retcode: 0,
      context: new Map(),
      get master() {
        throw new Error('only for runners')
      },
    }) as unknown as Parameters<typeof createContext>[0]

  test('call runs another function in a nested context that sets the exit code of the job, as in Salt', async () => {
    const context = createContext(base(), open())
    expect(await context.call('test.retcode', [3])).toBe(true)
    expect([context.nested, context.retcode]).toEqual([false, 3])
  })
  test('call accepts values by position, by name, or both', async () => {
    await put(
      'modules/area.ts',
      `import { fn, p } from 'salt-ts'
export const of = fn({ width: p.number(), height: p.number() }, ({ width, height }) => [width, height])
`,
    )
    const { call } = createContext(base(), open())
    expect(await call(untyped('area.of'), [1, 2])).toEqual([1, 2])
    expect(await call(untyped('area.of'), { height: 2, width: 1 })).toEqual([1, 2])
    expect(await call(untyped('area.of'), [1], { height: 2 })).toEqual([1, 2])
    await expect(call(untyped('area.of'), { width: 1, heigth: 2 })).rejects.toThrow(/not valid: heigth=2/)
  })
  test('call of a missing function suggests a similar name, and imports nothing for that', SLOW, async () => {
    await put('modules/near.js', "throw new Error('imported')\nexport const greet = () => 1\n")
    const { call } = createContext(base(), open())
    await expect(call(untyped('cmd.rnu'), ['id'])).rejects.toThrow(
      /^'cmd\.rnu' is not available\. Did you mean 'cmd\.run'\?$/,
    )
    await expect(call(untyped('naer.greet'))).rejects.toThrow(
      /^'naer\.greet' is not available\. Did you mean 'near\.greet'\?$/,
    )
    await expect(call(untyped('nothing.like.it'))).rejects.toThrow(/is not available\.$/)
  })
  test('call refuses arguments that are neither a list nor a map, without showing them', async () => {
    const { call } = createContext(base(), open())
    const sentence =
      "The arguments of call('test.echo', …) must be a map of values by name, or a list of values that a map of " +
      "further values by name may follow: call('cmd.run', ['id'], { cwd: '/' })."
    const given = call as unknown as (...given: unknown[]) => Promise<unknown>
    for (const wrong of [['secret'], [7], [['x'], 'secret'], [['x'], ['secret']]])
      await expect(given('test.echo', ...wrong)).rejects.toThrow(
        expect.objectContaining({ code: 'INVOCATION', message: sentence }),
      )
  })
  test('grains, opts and pillar cannot be changed by a function', async () => {
    await put(
      'modules/writes.js',
      `export const virtual = ({ grains }) => { try { grains.os = 'x' } catch (error) { return error.message } return true }
export const ping = () => true
`,
    )
    await put(
      'modules/facts.js',
      `import { fn } from 'salt-ts'
export const grains = fn((_, { grains }) => { grains.os = 'x' })
export const opts = fn((_, { opts }) => { opts.own = 'x' })
export const pillar = fn((_, { pillar }) => { pillar.list[0].name = 'x' })
`,
    )
    const facts = { opts: { id: 'a' }, grains: { os: 'Debian' }, pillar: { list: [{ name: 'a' }] } }
    const { call } = createContext(Object.assign(base(), facts), open())
    await expect(call(untyped('facts.grains'))).rejects.toThrow(/^Cannot assign to read only property 'os'/)
    await expect(call(untyped('facts.opts'))).rejects.toThrow(
      /^Cannot add property own, object is not extensible/,
    )
    await expect(call(untyped('facts.pillar'))).rejects.toThrow(TypeError)
    expect(facts).toEqual({ opts: { id: 'a' }, grains: { os: 'Debian' }, pillar: { list: [{ name: 'a' }] } })
    expect(await open({}, { grains: { os: 'Debian' } }).why('writes.ping')).toContain(
      'Cannot assign to read only',
    )
  })
  test('nested functions share scratch values and are marked as nested', async () => {
    await put(
      'modules/deep.ts',
      `import { fn } from 'salt-ts'
export const inner = fn((_, context) => { context.context.set('seen', context.nested); context.retcode = 9; return context.retcode })
export const outer = fn(async (_, { call }) => call('deep.inner'))
`,
    )
    const context = createContext(base(), open())
    expect(await context.call(untyped('deep.outer'))).toBe(9)
    expect([context.context.get('seen'), context.retcode]).toEqual([true, 9])
  })
  test('functions log under the name of their module, as in Salt, and secrets are hidden in all lines', async () => {
    await put(
      'modules/own.ts',
      `import { fn, p } from 'salt-ts'
export const login = fn({ word: p.secret(p.string()) }, async ({ word }, { log, call }) => {
  log.info('login with ' + word)
  await call('test.deprecation_warning')
  return call('own.other', [word])
})
export const other = fn({ word: p.string() }, ({ word }, { log }) => log.info('other with ' + word))
`,
    )
    const lines: string[] = []
    const log = createLogger({
      program: 'salt-minion',
      console: { level: 'all', stream: { write: (text) => lines.push(text) } },
      formats: { log_fmt_console: '%(name)s: %(message)s' },
    })
    await createContext(Object.assign(base(), { log }), open({}, { log })).call(untyped('own.login'), [
      'hunter2',
    ])
    expect(lines).toEqual([
      'salt.loader.lazy: LazyLoaded own.login\n',
      'salt.loaded.ext.module.own: login with **********\n',
      'salt.loader.lazy: LazyLoaded test.deprecation_warning\n',
      expect.stringMatching(/^salt\.loaded\.int\.module\.test: This is a test deprecation warning/),
      'salt.loader.lazy: LazyLoaded own.other\n',
      'salt.loaded.ext.module.own: other with **********\n',
    ])
  })
  test('an unknown function is an error with the reason', SLOW, async () => {
    const context = createContext(base(), open())
    await expect(context.call(untyped('no.such'))).rejects.toMatchObject({
      code: 'FUNCTION_NOT_FOUND',
      message: "'no.such' is not available.",
    })
  })
  test('getters of the base context are not called', () => {
    expect(() => createContext(base(), open())).not.toThrow()
  })
})
