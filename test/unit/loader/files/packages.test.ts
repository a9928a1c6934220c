import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { missingPackageWarnings } from '../../../../core/loader/files/directories.ts'
import { call, extensionFolder } from '../folder.ts'

const folder = extensionFolder()
const { put, open } = folder

/** A package in a `node_modules` of the folder, with one module. */
async function install(name: string, module: string, at = `node_modules/${name}`) {
  await put(`${at}/package.json`, JSON.stringify({ name, type: 'module', 'salt-ts': { modules: './lib' } }))
  return put(`${at}/lib/${module}.js`, `export const from = () => '${name}'\n`)
}

describe('npm packages with extensions', () => {
  test('are found by their name beside the folders of modules, scoped ones too', async () => {
    await install('salt-ts-web', 'web')
    await install('@acme/salt-ts-shop', 'shop')
    await install('unrelated', 'other')
    const loader = open()
    expect(await call(loader, 'web.from')).toBe('salt-ts-web')
    expect(await call(loader, 'shop.from')).toBe('@acme/salt-ts-shop')
    expect(await call(loader, 'other.from')).toBe("'other.from' is not available.")
  })
  test('of another name, or elsewhere, are named in plugin_packages', async () => {
    await install('unrelated', 'other')
    await install('apart', 'apart', 'elsewhere/apart')
    const loader = open({ plugin_packages: ['unrelated', path.join(folder.path, 'elsewhere/apart')] })
    expect(await call(loader, 'other.from')).toBe('unrelated')
    expect(await call(loader, 'apart.from')).toBe('apart')
  })
  test('come after synced extensions and folders of the configuration, and before built-in ones', async () => {
    const packaged = await install('salt-ts-web', 'test')
    await install('salt-ts-web', 'mine')
    await install('salt-ts-web', 'fetched')
    await put('direct/mine.js', `export const from = () => 'module_dirs'\n`)
    await put('extmods/modules/fetched.js', `export const from = () => 'synchronised'\n`)
    const config = {
      module_dirs: [folder.path, path.join(folder.path, 'direct')],
      extension_modules: path.join(folder.path, 'extmods'),
    }
    const loader = open(config)
    expect(await call(loader, 'mine.from')).toBe('module_dirs')
    expect(await call(loader, 'fetched.from')).toBe('synchronised')
    expect(await call(loader, 'test.from')).toBe('salt-ts-web')
    expect((await loader.view.providers()).test).toBe(packaged)
    const asBefore = open({ ...config, features: { enable_deprecated_module_search_path_priority: true } })
    expect(await call(asBefore, 'fetched.from')).toBe('salt-ts-web')
  })
  test('without a manifest, or with a broken one, are skipped', async () => {
    await put('node_modules/salt-ts-broken/package.json', '{ "salt-ts": ')
    await put('node_modules/salt-ts-none/index.js', '')
    await put('node_modules/salt-ts-odd/package.json', '{ "salt-ts": { "modules": 7 } }')
    await install('salt-ts-web', 'web')
    expect(await call(open(), 'web.from')).toBe('salt-ts-web')
  })
  test('that are named in plugin_packages and missing cause a warning', () => {
    const config = { module_dirs: [folder.path], plugin_packages: ['nosuch', './gone'] }
    expect(missingPackageWarnings(config)).toEqual([
      expect.stringMatching(/plugin_packages names 'nosuch', .* npm install nosuch/),
      expect.stringMatching(/plugin_packages names '\.\/gone', but there is no package in \S+gone\.$/),
    ])
  })
})
