import { describe, expect, test } from 'vitest'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { kinds } from '../../../core/loader/kinds.ts'
import { extensionFolder } from './folder.ts'

const folder = extensionFolder()

test('every kind of plugin that is loaded has its row', () => {
  expect([...kinds.keys()].sort()).toEqual(
    'auth engines executors fileserver grains matchers modules outputters returners runners utils wheel'.split(
      ' ',
    ),
  )
})

describe.each([...kinds.values()])('$name', (kind) => {
  const plugin = `export default { ${(kind.members ?? []).map((m) => `${m}() {}`).join(', ')} }\n`
  const content = kind.shape === 'functions' ? 'export const f = () => 1\n' : plugin

  test('have options for folders and for disabling', () => {
    const { config } = loadMasterConfig({ overrides: { root_dir: folder.path }, configDir: folder.path })
    expect(config).toHaveProperty(kind.dirsKey, [])
    expect(config).toHaveProperty(kind.disableKey, [])
  })
  test('are found in each of their folders, and in a package', async () => {
    for (const name of [...kind.folders, `_${kind.folders[0]}`]) {
      await folder.put(`${name}/in_${name.replaceAll('-', '_')}.js`, content)
    }
    await folder.put('extmods/package.json', '{}')
    await folder.put(`extmods/${kind.folders[0]}/synced.js`, content)
    await folder.put(
      'node_modules/salt-ts-one/package.json',
      JSON.stringify({ 'salt-ts': { [kind.folders[0]]: 'dist' }, type: 'module' }),
    )
    await folder.put('node_modules/salt-ts-one/dist/packaged.js', content)
    const loader = folder.open({ extension_modules: `${folder.path}/extmods` }, {}, kind.name)
    const wanted = [...kind.folders, `_${kind.folders[0]}`].map((name) => `in_${name.replaceAll('-', '_')}`)
    const names = await loader.view.modules()
    expect(names).toEqual(expect.arrayContaining([...wanted, 'packaged', 'synced']))
    const failed = Object.keys(await loader.view.failures())
    expect(failed.filter((path) => path.startsWith(folder.path))).toEqual([])
  })
  test('can be disabled', async () => {
    await folder.put(`${kind.folders[0]}/unwanted.js`, content)
    const loader = folder.open({ [kind.disableKey]: ['unwanted'] }, {}, kind.name)
    expect(await loader.view.modules('unwanted')).toEqual([])
  })
})

describe.each([...kinds.values()].filter(({ members }) => members?.length))('$name', (kind) => {
  test.each([
    ['export default () => 7', 'its default export is a function'],
    ["export default 'x'", 'its default export is text'],
    ['export const collect = () => 7', "has no default export, but exports 'collect' by name"],
    ['const unused = 1', 'has no default export'],
    ['export default {}', `its default export has no ${kind.members?.[0]}()`],
  ])('of a wrong shape, %s, are refused with what to write', async (text, wrong) => {
    await folder.put(`${kind.folders[0]}/shape.js`, `${text}\n`)
    await expect(folder.open({}, {}, kind.name).plugin('shape')).rejects.toThrow(
      `${wrong}; write 'export default ${kind.maker}({ ${kind.members?.[0]}: … })'`,
    )
  })
  test('without a mandatory member are refused with its name', async () => {
    await folder.put(`${kind.folders[0]}/empty.js`, 'export default {}\n')
    await expect(folder.open({}, {}, kind.name).plugin('empty')).rejects.toThrow(
      `its default export has no ${kind.members?.[0]}()`,
    )
  })
})
