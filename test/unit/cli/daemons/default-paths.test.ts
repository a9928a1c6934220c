import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultPathsNote } from '../../../../core/cli/daemons/default-paths.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-places-')
})
afterEach(() => removeFolder(folder))

const told = () => defaultPathsNote('salt-master', loadMasterConfig({ configDir: folder }).config)

test('a daemon without a configuration logs its default paths', async () => {
  expect(told()).toEqual([
    'salt-master keeps its keys in /etc/salt/pki/master, its data in /var/cache/salt/master, its sockets in ' +
      `/var/run/salt/master and its log in /var/log/salt/master. Write ${join(folder, 'master')} to choose others, or name ` +
      'another folder of configuration with -c.',
  ])
  await writeFile(join(folder, 'master'), 'timeout: 7\n', { mode: 0o600 })
  expect(told()).toEqual([])
})
