import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultPlaces } from '../../../core/cli/default-places.ts'
import { loadMasterConfig } from '../../../core/config/index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-places-'))
})
afterEach(() => rm(folder, { recursive: true }))

const told = () => defaultPlaces('salt-master', loadMasterConfig({ configDir: folder }).config)

test('a daemon without a configuration says where it keeps what it has', async () => {
  expect(told()).toEqual([
    'salt-master keeps its keys in /etc/salt/pki/master, its data in /var/cache/salt/master, its sockets in ' +
      `/var/run/salt/master and its log in /var/log/salt/master. Write ${join(folder, 'master')} to choose others, or name ` +
      'another folder of configuration with -c.',
  ])
  await writeFile(join(folder, 'master'), 'timeout: 7\n', { mode: 0o600 })
  expect(told()).toEqual([])
})
