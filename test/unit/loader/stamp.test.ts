/** The stamp by which watches notice changes of users' files. */
import { expect, test } from 'vitest'
import { usersStamp } from '../../../core/loader/index.ts'
import { extensionFolder } from './folder.ts'

const folder = extensionFolder()
const { put } = folder

test('the stamp changes with helpers that modules may import, and not with tests or packages', async () => {
  const stamp = () => usersStamp(['modules'], { module_dirs: [folder.path] })
  const first = await stamp()
  await put('modules/_words.ts', "export const word = 'a'\n")
  const second = await stamp()
  expect(second).not.toBe(first)
  await put('modules/_words.ts', "export const word = 'longer'\n")
  const third = await stamp()
  expect(third).not.toBe(second)
  await put('modules/lib/deep/more.js', 'export {}\n')
  const fourth = await stamp()
  expect(fourth).not.toBe(third)
  for (const name of ['hello.test.ts', 'node_modules/x/index.js', '.tmp-1.js', 'notes.txt'])
    await put(`modules/${name}`, '//\n')
  expect(await stamp()).toBe(fourth)
})
