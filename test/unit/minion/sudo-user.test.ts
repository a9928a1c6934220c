/** A minion says when it starts that nothing can run as its `sudo_user`. */
import { chmod, symlink, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { checkSudoUser } from '../../../core/minion/sudo-user.ts'
import { fakeLog } from '../../../core/testing/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let bin: string
beforeEach(async () => {
  bin = await temporaryFolder('salt-sudo-')
  await symlink('/usr/bin/id', join(bin, 'id'))
  vi.stubEnv('PATH', bin)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(bin)
})

async function sudo(): Promise<void> {
  await writeFile(join(bin, 'sudo'), '#!/bin/sh\n')
  await chmod(join(bin, 'sudo'), 0o755)
}

async function errors(sudo_user: string): Promise<string[]> {
  const { log, lines } = fakeLog()
  await checkSudoUser({ config: { sudo_user }, log })
  return lines.filter(({ level }) => level === 'error').map(({ message }) => message)
}

test('no error is reported if sudo works, or if there is no sudo_user', async () => {
  await sudo()
  expect(await errors(userInfo().username)).toEqual([])
  expect(await errors('')).toEqual([])
})

test('a user that does not exist on this host is named', async () => {
  await sudo()
  expect(await errors('nosuchuser')).toEqual([
    'No job can run as nosuchuser (sudo_user): there is no such user on this host. Fix that, or remove sudo_user from the configuration.',
  ])
})

test('a missing sudo is reported', async () => {
  expect(await errors(userInfo().username)).toEqual([
    expect.stringMatching(/^No job can run as .*: .*needs the program 'sudo', which is not in PATH\. Fix/),
  ])
})
