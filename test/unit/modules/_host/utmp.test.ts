import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loggedIn } from '../../../../modules/_host/utmp.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-utmp-')
})
afterEach(() => removeFolder(folder))

function record(type: number, pid: number, line: string, user: string, host: string): Buffer {
  const bytes = Buffer.alloc(384)
  bytes.writeInt16LE(type, 0)
  bytes.writeInt32LE(pid, 4)
  bytes.write(line, 8)
  bytes.write(user, 44)
  bytes.write(host, 76)
  bytes.writeInt32LE(1_700_000_000, 340)
  return bytes
}

test('log-ins are the records of users; a display is on this host', async () => {
  const path = join(folder, 'utmp')
  const records = [record(2, 0, '~', 'reboot', '6.1'), record(7, 42, 'pts/0', 'ada', '10.0.0.9')]
  await writeFile(path, Buffer.concat([...records, record(7, 43, 'tty7', 'bob', ':0'), Buffer.from('rest')]))
  expect(JSON.parse(JSON.stringify(await loggedIn(path)))).toEqual([
    { name: 'ada', terminal: 'pts/0', host: '10.0.0.9', started: 1_700_000_000, pid: 42 },
    { name: 'bob', terminal: 'tty7', host: 'localhost', started: 1_700_000_000, pid: 43 },
  ])
  expect(await loggedIn(join(folder, 'none'))).toEqual([])
})
