import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, realpath, rename, symlink, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isBelow, openInside } from '../../../../core/base/files/open-inside.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

let folder: string
let root: string

beforeEach(async () => {
  folder = await realpath(await temporaryFolder('salt-inside-'))
  root = join(folder, 'srv')
  await mkdir(join(root, 'sub'), { recursive: true })
  await mkdir(join(folder, 'srv-secret'))
  await writeFile(join(root, 'sub', 'file'), 'inside')
  await writeFile(join(folder, 'srv-secret', 'file'), 'secret')
})
afterEach(() => removeFolder(folder))

async function read(path: string): Promise<string | undefined> {
  const found = await openInside(path, [root])
  const text = await found?.handle.readFile('utf8')
  await found?.handle.close()
  return text
}

test('a folder whose name begins with that of the root is not inside', () => {
  expect(isBelow('/srv/salt-secret', '/srv/salt')).toBe(false)
  expect(isBelow('/srv/salt/x', '/srv/salt')).toBe(true)
  expect(isBelow('/srv/salt', '/srv/salt')).toBe(true)
  expect(isBelow('/anything', '/')).toBe(true)
})

test('files inside are opened, links that stay inside are followed, and other links are not', async () => {
  await symlink('sub', join(root, 'link-inside'))
  await symlink('../srv-secret', join(root, 'link-out'))
  await symlink('../srv-secret/file', join(root, 'file-out'))
  expect(await read(join(root, 'sub', 'file'))).toBe('inside')
  expect(await read(join(root, 'link-inside', 'file'))).toBe('inside')
  for (const path of ['link-out/file', 'file-out', '../srv-secret/file', 'nothing', 'sub'])
    expect(await read(`${root}/${path}`), path).toBeUndefined()
})

test('a pipe and a device are not opened, and do not block', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')])
  await symlink('/dev/zero', join(root, 'zero'))
  expect(await read(join(root, 'pipe'))).toBeUndefined()
  expect(await read(join(root, 'zero'))).toBeUndefined()
})

test('a folder is opened only on request', async () => {
  const opened = await openInside(join(root, 'sub'), [root], { kind: 'directory' })
  expect(opened?.path).toBe(join(root, 'sub'))
  await opened?.handle.close()
  expect(await openInside(join(root, 'sub', 'file'), [root], { kind: 'directory' })).toBeUndefined()
  const { O_RDONLY, O_NOFOLLOW } = constants
  await symlink('sub', join(root, 'link'))
  const flags = O_RDONLY | O_NOFOLLOW
  expect(await openInside(join(root, 'link'), [root], { kind: 'directory', flags })).toBeUndefined()
})

test('a folder that is swapped for a link while it is read exposes nothing outside', SLOW, async () => {
  const place = join(root, 'sub')
  let isRunning = true
  const swapping = (async () => {
    while (isRunning) {
      await rename(place, join(root, 'aside'))
      await symlink('../srv-secret', place)
      await unlink(place)
      await rename(join(root, 'aside'), place)
    }
  })()
  const seen = new Set<string | undefined>()
  for (let count = 0; count < 5000; count++) seen.add(await read(join(place, 'file')))
  isRunning = false
  await swapping
  expect(seen).not.toContain('secret')
  expect(seen).toContain('inside')
})
