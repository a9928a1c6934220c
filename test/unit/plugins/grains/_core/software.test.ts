import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import plugin from '../../../../../plugins/grains/_core/software.ts'
import { removeFolder, temporaryFolder } from '../../../../harness/folder.ts'
import { collect } from '../context.ts'

afterEach(() => vi.unstubAllEnvs())

test('a system without transactional-update and ZFS says so', async () => {
  vi.stubEnv('PATH', '/nowhere')
  expect(await collect(plugin)).toEqual({
    grains: { transactional: false, zfs_support: false, zfs_feature_flags: false },
    lines: [],
  })
})

test('transactional-update on the PATH makes a system transactional', async () => {
  const folder = await temporaryFolder('salt-ts-software-')
  await writeFile(join(folder, 'transactional-update'), '')
  vi.stubEnv('PATH', `/nowhere:${folder}`)
  expect((await collect(plugin)).grains.transactional).toBe(true)
  await removeFolder(folder)
})
