import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pidFile } from '../../../../core/cli/daemons/pid-file.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

test('a pipe in place of the pid file is reported and does not block the daemon', async () => {
  const folder = await temporaryFolder('salt-ts-pid-')
  const path = join(folder, 'daemon.pid')
  execFileSync('mkfifo', [path])
  const told: string[] = []
  const pid = pidFile(path, (problem) => told.push(problem))
  pid.write()
  pid.remove()
  expect(told).toEqual([`The pid file cannot be written: ${path} is a pipe, not a regular file`])
  await removeFolder(folder)
})
