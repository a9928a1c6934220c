/** What a master takes over from a master of Python Salt that ran in its place. */
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MinionData } from '../../../../core/cache/minion-data.ts'
import { encodeLocal } from '../../../../core/codec/index.ts'
import { minionDataDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { makeDirectories } from '../../../../core/master/supervision/directories.ts'
import { takeOverPythonCache } from '../../../../core/master/supervision/python-cache.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { spyLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

let folder: string
let config: MasterConfig
beforeEach(async () => {
  folder = await temporaryFolder()
  config = loadMasterConfig({ configDir: folder, overrides: { root_dir: folder } }).config
  await makeDirectories(config)
})
afterEach(() => removeFolder(folder))

async function accept(...ids: string[]) {
  for (const id of ids)
    await writeFile(join(config.pki_dir, 'minions', id), (await keyPair(id)).publicKey.pem)
}

async function cachedByPython(id: string, content: Uint8Array) {
  await mkdir(join(config.cachedir, 'minions', id), { recursive: true })
  await writeFile(join(config.cachedir, 'minions', id, 'data.p'), content)
}

async function taken(ids: readonly string[]) {
  const log = spyLog()
  await takeOverPythonCache(config, log)
  const data = MinionData.open(minionDataDirectory(config))
  try {
    return { facts: ids.map((id) => [data.grains(id), data.pillar(id)]), log }
  } finally {
    await data.close()
  }
}

test('grains and pillar of accepted minions are taken over, unless newer ones are known', SLOW, async () => {
  await accept('known', 'new')
  const data = MinionData.open(minionDataDirectory(config))
  await data.save('known', { grains: { id: 'known', os: 'Alpine' } })
  await data.close()
  for (const id of ['known', 'new', 'stranger'])
    await cachedByPython(id, encodeLocal({ grains: { id, os: 'Debian' }, pillar: { role: 'web' } }))
  const { facts, log } = await taken(['known', 'new', 'stranger'])
  expect(facts).toEqual([
    [{ id: 'known', os: 'Alpine' }, undefined],
    [{ id: 'new', os: 'Debian' }, { role: 'web' }],
    [undefined, undefined],
  ])
  expect(log.info).toHaveBeenCalledWith(expect.stringContaining('of one minion were taken over'))
})

test('a file that cannot be read is named, and the others are taken over', SLOW, async () => {
  await accept('broken', 'new')
  await cachedByPython('broken', Buffer.from([0x81]))
  await cachedByPython('new', encodeLocal({ grains: { id: 'new' } }))
  const { facts, log } = await taken(['broken', 'new'])
  expect(facts).toEqual([
    [undefined, undefined],
    [{ id: 'new' }, undefined],
  ])
  expect(log.warn).toHaveBeenCalledWith(expect.stringContaining('minions/broken/data.p were not taken over'))
})

test('the folders for keys exist before there are keys, for scripts that put keys there', async () => {
  expect((await readdir(config.pki_dir)).sort()).toEqual([
    'minions',
    'minions_autosign',
    'minions_denied',
    'minions_pre',
    'minions_rejected',
  ])
})
