import { existsSync, readlinkSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRunning } from '../../../core/process/process-identity.ts'
import { withFileLock } from '../../../core/store/file-lock.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-turn-')
})
afterEach(() => removeFolder(folder))

test.each([
  ['another process has its id now', `${process.ppid} another-start/7`],
  ['only its process id is known', String(process.ppid)],
  ['the lock file names no process', 'x'],
])('the turn of a holder that has ended is taken over: %s', async (_, text) => {
  const path = join(folder, 'store')
  await symlink(text, `${path}.turn`)
  const held = withFileLock(path, () => readlinkSync(`${path}.turn`))
  const [pid, born] = held.split(' ')
  expect(isRunning({ pid: Number(pid), born: born ?? '' })).toBe(true)
  expect(held.length).toBeLessThan(60)
  expect(existsSync(`${path}.turn`)).toBe(false)
})
