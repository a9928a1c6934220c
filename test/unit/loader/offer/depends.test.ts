import { chmod } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { SLOW } from '../../../harness/slow.ts'
import { call, extensionFolder } from '../folder.ts'

const folder = extensionFolder()
const { put, open } = folder

const needing = (dependsOn: unknown, rest = '') =>
  `export const dependsOn = ${JSON.stringify(dependsOn)}\nexport const f = () => 1\nexport const g = () => 2\n${rest}`

describe('a module that depends on something', () => {
  test('is available if programs, packages and functions it needs are', SLOW, async () => {
    await put('node_modules/dep/package.json', '{"name":"dep","exports":{"import":"./index.js"}}')
    await put('modules/other.js', 'export const h = () => 3\n')
    await put(
      'modules/needs.js',
      needing([{ binary: ['sh', '/bin/sh'] }, { package: 'dep' }, { function: 'other.h' }]),
    )
    const loader = open()
    expect(await call(loader, 'needs.f')).toBe(1)
    expect(await loader.view.functions('needs.*')).toEqual(['needs.f', 'needs.g'])
  })
  test.each([
    [{ binary: '/usr' }, "needs the program '/usr', which is not in PATH"],
    [{ binary: 'nosuch-program' }, "needs the program 'nosuch-program', which is not in PATH"],
    [{ function: 'nosuch.fun' }, "needs the function 'nosuch.fun', which is not available"],
  ])('reports what is missing: %j', SLOW, async (dependency, reason) => {
    await put('modules/needs.js', needing([dependency]))
    const loader = open()
    expect(await call(loader, 'needs.f')).toBe(`'needs' __virtual__ returned False: ${reason}`)
    expect(await loader.view.modules('needs')).toEqual([])
  })
  test('reports how to install a missing package', async () => {
    const file = await put('modules/needs.js', needing({ package: 'nosuch-package' }))
    expect(await call(open(), 'needs.f')).toContain(
      `needs the npm package 'nosuch-package': run 'npm install nosuch-package' in ${path.dirname(file)} or above`,
    )
  })
  test('for some functions only lacks those, and says why', SLOW, async () => {
    await put('modules/needs.js', needing([{ binary: 'nosuch-program', functions: ['g'] }]))
    const loader = open()
    expect(await call(loader, 'needs.f')).toBe(1)
    expect(await call(loader, 'needs.g')).toBe(
      "'needs.g' is not available. Possible reasons: 'needs the program 'nosuch-program', which is not in PATH'",
    )
    expect(await loader.view.functions('needs.*')).toEqual(['needs.f'])
  })
  test('becomes available when its dependency does, after a reload', async () => {
    await put('modules/needs.js', needing([{ binary: path.join(folder.path, 'tool') }]))
    const loader = open()
    expect(await call(loader, 'needs.f')).toContain('needs the program')
    await chmod(await put('tool', '#!/bin/sh\n'), 0o755)
    await loader.reload()
    expect(await call(loader, 'needs.f')).toBe(1)
  })
  test('in a circle with another is available', async () => {
    await put('modules/one.js', needing([{ function: 'two.f' }]))
    await put('modules/two.js', needing([{ function: 'one.f' }]))
    const loader = open({}, { timeoutMs: 2000 })
    expect(await Promise.all([call(loader, 'one.f'), call(loader, 'two.f')])).toEqual([1, 1])
  })
  test('in an unknown way is refused with the reason', async () => {
    await put('modules/needs.js', needing([{ program: 'git' }]))
    expect(await call(open(), 'needs.f')).toContain(
      'needs.js: dependsOn failed: dependsOn has {"program":"git"}. An entry is { binary }, { package } or { function }',
    )
  })
})

test(
  'a module that the configuration assigns to a name provides it, whatever its virtual returns, and before others',
  SLOW,
  async () => {
    await put('modules/apt.js', `export const virtualName = 'pkg'\nexport const f = () => 'apt'\n`)
    await put(
      'modules/yum.js',
      `export const virtualName = 'pkg'\nexport const virtual = 'needs yum'\nexport const f = () => 'yum'\n`,
    )
    expect(await call(open(), 'pkg.f')).toBe('apt')
    const loader = open({ providers: { pkg: 'yum' } })
    expect(await call(loader, 'pkg.f')).toBe('yum')
    expect(await loader.view.functions('pkg.*')).toEqual(['pkg.f'])
    expect((await loader.view.providers()).pkg).toContain('yum.js')
  },
)

test('grains are collected on a proxy minion only if their source supports it', async () => {
  await put(
    'grains/any.js',
    `export const proxyEnabled = ['*']\nexport default { collect: async () => ({}) }\n`,
  )
  await put('grains/own.js', `export default { collect: async () => ({}) }\n`)
  const loader = open({ proxy: { proxytype: 'rest' } }, {}, 'grains')
  await expect(loader.plugin('any')).resolves.toBeDefined()
  await expect(loader.plugin('own')).rejects.toThrow('is not for proxy minions of type rest (proxyEnabled)')
  await expect(open({}, {}, 'grains').plugin('own')).resolves.toBeDefined()
})
