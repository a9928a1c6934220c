/**
 * Cases of Salt's own tests of its loader, by their names there; the rest of them has a line each in
 * `docs/from-python.md` or a test in the other files of this folder.
 */
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { quietLog } from '../../harness/log.ts'
import { SLOW } from '../../harness/slow.ts'
import { call, extensionFolder } from './folder.ts'

const folder = extensionFolder()
const { put, open } = folder

describe('LazyLoaderVirtualEnabledTest', () => {
  test('test_basic: only the file that has the function is loaded', async () => {
    await put('modules/other.js', 'globalThis.saltLoaderTouched = true\nexport const f = () => 1\n')
    await put('modules/mine.js', 'export const f = () => 1\n')
    expect(await call(open(), 'mine.f')).toBe(1)
    expect(globalThis).not.toHaveProperty('saltLoaderTouched')
  })
  test('test_badkey, test_single_item_no_dot: a name without a point is no function', async () => {
    expect(await call(open(), 'test')).toBe("'test' is not available.")
  })
  test('test_disable: a module of disable_modules is absent', SLOW, async () => {
    expect(await open({ disable_modules: ['cmd'] }).view.functions('cmd.*')).toEqual([])
  })
  test('test_virtual: a module whose virtual is false is absent', async () => {
    await put('modules/test_virtual.js', 'export const virtual = false\nexport const ping = () => true\n')
    expect(await open().get('test_virtual.ping')).toBeUndefined()
  })
})

test('LazyLoaderWhitelistTest.test_whitelist: only modules of whitelist_modules are there', async () => {
  const loader = open({ whitelist_modules: ['test', 'config'] })
  expect(await loader.get('test.ping')).toBeDefined()
  expect(await loader.get('config.get')).toBeDefined()
  expect(await loader.get('grains.get')).toBeUndefined()
})

describe('LazyLoaderReloadingTest', () => {
  const needing = (rest: string) => `
export const dependsOn = [
  { package: 'nosuch', functions: ['test3'] },
  { package: 'nosuch', functions: ['test4'], fallback: () => 'instead' },
]
export const test = () => 'own'
export const test3 = () => true
export const test4 = () => true
${rest}`

  test(
    'LazyLoaderTest.test_depends: a function that lacks what it needs is absent, or answered by its fallback',
    SLOW,
    async () => {
      await put('modules/loadertest.js', needing(''))
      const loader = open()
      expect(await loader.view.functions('loadertest.*')).toEqual(['loadertest.test', 'loadertest.test4'])
      expect(await call(loader, 'loadertest.test3')).toContain('nosuch')
      expect(await call(loader, 'loadertest.test4')).toBe('instead')
    },
  )
  test('a fallback made by fn has its own parameters', SLOW, async () => {
    await put(
      'modules/loadertest.ts',
      `import { fn, p } from 'salt-ts'
const instead = fn({ n: p.integer() }, ({ n }) => n + 1)
export const dependsOn = [{ binary: 'nosuch', functions: ['get'], fallback: instead }]
export const get = fn(() => 'own')\n`,
    )
    const loader = open()
    expect(await call(loader, 'loadertest.get', ['41'])).toBe(42)
    expect(await loader.view.argspec('loadertest.get')).toMatchObject({ args: ['n'] })
  })
  test('a fallback for no function in particular is refused with the reason', async () => {
    await put(
      'modules/loadertest.js',
      `export const dependsOn = { binary: 'sh', fallback: () => 1 }\nexport const f = () => 1\n`,
    )
    expect(await call(open(), 'loadertest.f')).toContain('dependsOn failed: dependsOn has {"binary":"sh"}')
  })
  test('test__load__and_depends: load leaves out what a fallback would answer', SLOW, async () => {
    await put('modules/loadertest.js', needing('export const load = [test]\n'))
    const loader = open()
    expect(await loader.view.functions('loadertest.*')).toEqual(['loadertest.test'])
    expect(await loader.get('loadertest.test4')).toBeUndefined()
  })
})

describe('LazyLoaderModulePackageTest', () => {
  test('test_package: a folder with an index is a module', async () => {
    await put('modules/foo/index.js', 'export const test = () => 2\n')
    expect(await call(open(), 'foo.test')).toBe(2)
  })
  test('test_module_package_collision: in one folder of modules a folder goes before a file', async () => {
    await put('modules/foo.js', 'export const test = () => 3\n')
    await put('modules/foo/index.js', 'export const test = () => 4\n')
    expect(await call(open(), 'foo.test')).toBe(4)
  })
})

describe('LazyLoaderSubmodReloadingTest, LazyLoaderDeepSubmodReloadingTest', () => {
  test('test_reload: helpers of any depth are read anew, and one that is gone is a reason', async () => {
    const lib = (n: number) => put('modules/foo/lib/deep/bottom.js', `export const n = ${n}\n`)
    await put('modules/foo/lib/middle.js', `export { n } from './deep/bottom.js'\n`)
    await put('modules/foo/index.js', `import { n } from './lib/middle.js'\nexport const test = () => n\n`)
    const loader = open()
    for (const n of [1, 2]) {
      await lib(n)
      await loader.reload()
      expect(await call(loader, 'foo.test')).toBe(n)
    }
    await put('modules/foo/lib/middle.js', `export { n } from './gone.js'\n`)
    await loader.reload()
    expect(await call(loader, 'foo.test')).toMatch(/gone\.js/)
  })
})

describe('virtual', () => {
  const told = (virtual: string) => `export const virtual = ${virtual}\nexport const f = () => true\n`
  const refusal = (reason: string) => `'mod' __virtual__ returned False: ${reason}`

  test('may see whether functions exist, and call them (__salt__)', async () => {
    await put('modules/tool.js', `export const version = (prefix) => prefix + '1.2'\n`)
    await put(
      'modules/mod.js',
      told(`async ({ has, call }) => (await has('tool.nosuch')) || (await call('tool.version', ['v']))`),
    )
    const loader = open()
    expect(await call(loader, 'mod.f')).toBe(refusal('v1.2'))
    await put('modules/mod.js', told(`({ has }) => has('tool.version')`))
    await loader.reload()
    expect(await call(loader, 'mod.f')).toBe(true)
  })
  test('can read opts, grains, pillar and the values that other files left in the context', async () => {
    await put(
      'modules/first.js',
      `export const init = ({ context }) => context.set('seen', 'it')\nexport const f = () => 1\n`,
    )
    await put(
      'modules/mod.js',
      told(
        '({ opts, grains, pillar, context }) => [opts.word, grains.os, pillar.role, context.get("seen")].join(" ")',
      ),
    )
    const loader = open({ word: 'hello' }, { grains: { os: 'Debian' }, pillar: { role: 'web' } })
    await call(loader, 'first.f')
    expect(await call(loader, 'mod.f')).toBe(refusal('hello Debian web it'))
  })
  test(
    'that calls its own module, or a function that needs a minion, fails with a reason',
    SLOW,
    async () => {
      await put('modules/mod.js', told(`({ call }) => call('mod.f')`))
      const loader = open()
      expect(await call(loader, 'mod.f')).toContain(
        "'mod.f' cannot be called while its own module is being loaded; move the call into a function.",
      )
      await put(
        'modules/asks.js',
        `import { fn } from 'salt-ts'\nexport const f = fn((_, { minion }) => minion.running())\n`,
      )
      await put('modules/mod.js', told(`({ call }) => call('asks.f')`))
      await loader.reload()
      expect(await call(loader, 'mod.f')).toContain(
        'virtual failed: context.minion is not available to functions that are called while a module is loaded.',
      )
    },
  )
})

test('test_loaders_have_uniq_context: what files of one loader share, those of another do not see', async () => {
  await put(
    'modules/mod.js',
    `export const init = ({ context }) => context.set('n', (context.get('n') ?? 0) + 1)
export const virtual = ({ context }) => context.get('n') === 1\nexport const f = () => true\n`,
  )
  expect([await call(open(), 'mod.f'), await call(open(), 'mod.f')]).toEqual([true, true])
})

test('test_custom_grain_with_annotations: a grains source may be TypeScript', async () => {
  const file = await put(
    'grains/example.ts',
    `export default { collect: (): Promise<{ example: string }> => Promise.resolve({ example: '42' }) }\n`,
  )
  const loader = open({ grains_dirs: [path.dirname(file)] }, { log: quietLog }, 'grains')
  const source = await loader.plugin<{ collect(): Promise<unknown> }>('example')
  expect(await source.collect()).toEqual({ example: '42' })
})
