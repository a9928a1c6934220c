import { mkdir, readlink, symlink } from 'node:fs/promises'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { linkSaltTs } from '../../../../core/cli/authoring/salt-ts-link.ts'
import { installResolveHook } from '../../../../core/loader/files/resolve-hook.ts'
import { packageRoot } from '../../../../core/process/own-package.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-link-')
})
afterEach(() => removeFolder(folder))

const link = () => path.join(folder, 'node_modules', 'salt-ts')

test('a folder that does not resolve salt-ts gets one link to it, also from a process that resolves itself everywhere', async () => {
  installResolveHook()
  expect(await linkSaltTs(folder)).toContain('linked node_modules/salt-ts')
  expect(await readlink(link())).toBe(packageRoot)
  expect(await linkSaltTs(folder)).toBeUndefined()
})

test('a link to a copy that no longer exists is replaced', async () => {
  await mkdir(path.dirname(link()))
  await symlink(path.join(folder, 'gone'), link())
  expect(await linkSaltTs(folder)).toContain('linked node_modules/salt-ts')
  expect(await readlink(link())).toBe(packageRoot)
})
