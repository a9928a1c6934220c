import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { connectedElsewhere, connections } from '../../../core/cache/connected.ts'
import { connectedElsewhereFile, connectedFile } from '../../../core/config/cachedir.ts'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

test('a pipe in place of the list of connections counts as a damaged list and blocks no reader', async () => {
  const cachedir = await temporaryFolder('salt-connected-')
  const { config } = loadMasterConfig({ configDir: cachedir, overrides: { cachedir } })
  for (const path of [connectedFile(config), connectedElsewhereFile(config)]) execFileSync('mkfifo', [path])
  expect(await connections(config)).toBeUndefined()
  expect(await connectedElsewhere(config)).toEqual({})
  await removeFolder(cachedir)
})
