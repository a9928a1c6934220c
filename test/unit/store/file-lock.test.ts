import { existsSync, readlinkSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { isRunning, readIdentity } from '../../../core/process/process-identity.ts'
import { withFileLock } from '../../../core/store/file-lock.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-turn-')
})
afterEach(() => removeFolder(folder))

const OTHER = { pid: process.ppid, born: 'another-start/7' }

test.each([
  ['another process has its number now', JSON.stringify(OTHER)],
  ['only its number is known', String(process.ppid)],
  ['what is written there is no process', 'x'],
])('a turn whose holder is over is taken over: %s', async (_, text) => {
  const path = join(folder, 'store')
  await symlink(text, `${path}.turn`)
  const held = withFileLock(path, () => readlinkSync(`${path}.turn`))
  expect(isRunning(readIdentity(JSON.parse(held)) ?? OTHER)).toBe(true)
  expect(existsSync(`${path}.turn`)).toBe(false)
})
