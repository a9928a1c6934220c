/** `#utils/…`: what modules and plugins share. */
import { expect, test } from 'vitest'
import { SLOW } from '../../../harness/slow.ts'
import { extensionFolder } from '../folder.ts'

const folder = extensionFolder()

const sharing = (path: string) =>
  `import { word } from '${path}'\nimport { fn } from 'salt-ts'\nexport const say = fn(() => word)\n`
const shared = (word: string) => `export const word: string = '${word}'\n`
async function said(config = {}, name = 'told.say'): Promise<unknown> {
  const loader = folder.open(config)
  const found = await loader.get(name)
  if (!found) throw new Error(await loader.why(name))
  return found.run(found.bind([], {}), {} as never)
}

test.each(['utils', '_utils'])('modules import files of %s', async (name) => {
  await folder.put('modules/told.ts', sharing('#utils/text.ts'))
  await folder.put(`${name}/text.ts`, shared('hello'))
  expect(await said()).toBe('hello')
})

test('helpers import them too, also from folders below, and shared files import each other', async () => {
  await folder.put('modules/told.ts', sharing('./_helper.ts'))
  await folder.put('modules/_helper.ts', "export { word } from '#utils/deep/text.ts'\n")
  await folder.put('utils/deep/text.ts', "export { word } from '#utils/other.js'\n")
  await folder.put('utils/other.js', "export const word = 'deep'\n")
  expect(await said()).toBe('deep')
})

test.each([
  ['given', ['utils', 'extmods/utils', 'further']],
  ['synced', ['extmods/utils', 'further']],
  ['further', ['further']],
])('the %s file wins among those of %j', async (_, places) => {
  await folder.put('modules/told.ts', sharing('#utils/text.ts'))
  for (const place of places) await folder.put(`${place}/text.ts`, shared(place))
  const config = { utils_dirs: [`${folder.path}/further`], extension_modules: `${folder.path}/extmods` }
  expect(await said(config)).toBe(places[0])
})

test('a changed file takes effect with a reload', async () => {
  await folder.put('modules/told.ts', sharing('#utils/text.ts'))
  await folder.put('utils/text.ts', shared('first'))
  const loader = folder.open()
  const say = async () => {
    const found = await loader.get('told.say')
    return found?.run(found.bind([], {}), {} as never)
  }
  expect(await say()).toBe('first')
  await folder.put('utils/text.ts', shared('second'))
  expect(await say()).toBe('first')
  await loader.reload()
  expect(await say()).toBe('second')
})

test.each([
  ['missing', '#utils/txt.ts', {}],
  ['disabled', '#utils/text.ts', { disable_utils: ['text'] }],
])('a module that imports a %s file fails with a sentence', SLOW, async (_, path, config) => {
  await folder.put('modules/told.ts', sharing(path))
  await folder.put('utils/text.ts', shared('hello'))
  const failures = Object.values(await folder.open(config).view.failures()).join('\n')
  expect(failures).toContain(`There is no ${path}: sync it with saltutil.sync_utils`)
})

test('the imports of package.json name another folder', async () => {
  await folder.put('package.json', JSON.stringify({ type: 'module', imports: { '#utils/*': './lib/*' } }))
  await folder.put('lib/text.ts', shared('mine'))
  await folder.put('modules/told.ts', sharing('#utils/text.ts'))
  expect(await said()).toBe('mine')
})
