import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import plugin from '../../../../plugins/grains/extra.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { collect } from './context.ts'

let config_dir: string
beforeEach(async () => {
  config_dir = await temporaryFolder('salt-ts-extra-')
})
afterEach(() => removeFolder(config_dir))

const given = async (text: string) => {
  await writeFile(join(config_dir, 'grains'), text)
  return collect(plugin, { config_dir })
}

test('the grains file is read as YAML 1.1, dates as text', async () => {
  const { grains, lines } = await given('roles: [web]\nsafe: yes\nmode: 0644\nsince: 2024-01-31\n')
  expect(grains).toEqual({ roles: ['web'], safe: true, mode: 420, since: '2024-01-31' })
  expect(lines).toEqual([])
})

test('it is also found beside conf_file', async () => {
  await given('a: 1\n')
  expect((await collect(plugin, { conf_file: join(config_dir, 'minion') })).grains).toEqual({ a: 1 })
})

test.each(['', '# nothing\n'])('%j gives no grains', async (text) => {
  expect(await given(text)).toEqual({ grains: {}, lines: [] })
})

test('without a file, or without its folder, there are no grains', async () => {
  expect(await collect(plugin, { config_dir })).toEqual({ grains: {}, lines: [] })
  expect(await collect(plugin)).toEqual({ grains: {}, lines: [] })
})

test.each(['a: [1', '- a\n- b\n'])('%j is skipped with a warning', async (text) => {
  const { grains, lines } = await given(text)
  expect(grains).toEqual({})
  expect(lines.join()).toMatch(/Skipping/)
})
