import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTokenStore } from '../../../../core/auth/index.ts'
import type { MasterServices } from '../../../../core/author/index.ts'
import { MinionData } from '../../../../core/cache/minion-data.ts'
import { createMasterServices, type OpenServices } from '../../../../core/client/services/master-services.ts'
import { encodeLocal } from '../../../../core/codec/index.ts'
import { minionDataDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { runningRuns, writeRunFile } from '../../../../core/runs/running-runs.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { fakeContext } from '../../modules/context.ts'

let folder: string
let config: MasterConfig
let opened: OpenServices
let master: MasterServices

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-services-')
  const overrides = { root_dir: folder, cachedir: '/cache', pki_dir: '/pki', sock_dir: '/run' }
  config = loadMasterConfig({ configDir: folder, overrides }).config
  await mkdir(join(config.pki_dir, 'minions'), { recursive: true })
  for (const id of ['web1', 'web2', 'db1']) await writeFile(join(config.pki_dir, 'minions', id), 'key')
  const { log } = fakeContext()
  const client = () => Promise.reject(new Error('no master runs'))
  opened = createMasterServices({ config, log, client })
  master = opened.services
})
afterEach(async () => {
  await opened.close()
  await removeFolder(folder)
})

async function know(id: string, grains: object, pillar = {}): Promise<void> {
  const data = MinionData.open(minionDataDirectory(config))
  await data.save(id, { grains: { id, ...grains }, pillar })
  await data.close()
}

test('a target is matched with cached data of minions, and unknown without', async () => {
  await know('web1', { os: 'Debian' })
  await know('db1', { os: 'Fedora' })
  expect(await master.match('G@os:Debian', 'compound')).toEqual({
    minions: ['web1'],
    unknown: ['web2'],
    missing: [],
  })
  expect((await master.match('web*')).minions).toEqual(['web1', 'web2'])
  expect(await master.match(['web1', 'new'])).toEqual({
    minions: ['web1'],
    unknown: [],
    missing: ['new'],
  })
})

test(
  'execution functions run here with the grains of this host; those that need a minion are refused',
  SLOW,
  async () => {
    expect(await master.call('test.echo', ['hi'])).toBe('hi')
    expect(await master.call('grains.get', ['kernel'])).toBe('Linux')
    await expect(master.call('saltutil.running')).rejects.toThrow('this one runs on the master')
    await expect(master.call('no.such')).rejects.toThrow("'no.such' is not available")
  },
)

describe('the data cache', () => {
  test('has the cached data of a minion as a bank', async () => {
    await know('web1', { os: 'Debian' }, { role: 'web' })
    const { cache } = master
    expect(await cache.list('minions')).toEqual(['web1'])
    expect(await cache.list('minions/web1')).toEqual(['data'])
    expect(await cache.fetch('minions/web1', 'data')).toEqual({
      grains: { id: 'web1', os: 'Debian' },
      pillar: { role: 'web' },
    })
    await cache.store('minions/db1', 'data', { grains: { os: 'Fedora' } })
    expect(await cache.list('minions')).toEqual(['db1', 'web1'])
    await expect(cache.store('minions/db1', 'mine', {})).rejects.toThrow('a map {grains, pillar}')
    expect(await cache.flush('minions/db1', 'mine')).toBe(false)
    expect(await cache.flush('minions/db1')).toBe(true)
    expect(await cache.flush('minions')).toBe(true)
    expect(await cache.list('minions')).toEqual([])
  })

  test('stores values in nested banks with names of the caller', async () => {
    const { cache } = master
    await cache.store('a', 'b', 'beside')
    await cache.store('a/b', 'k1', 1)
    await cache.store('a/b/c', 'k2', [2])
    expect(await cache.list('a')).toEqual(['b'])
    expect(await cache.list('a/b')).toEqual(['c', 'k1'])
    expect(await cache.fetch('a/b/c', 'k2')).toEqual([2])
    expect(await cache.fetch('a/b', 'none')).toBeUndefined()
    expect(await cache.flush('a/b')).toBe(true)
    expect([await cache.list('a/b'), await cache.fetch('a', 'b')]).toEqual([[], 'beside'])
    expect(await cache.flush('a', 'x')).toBe(false)
    await expect(cache.store('a//b', 'k', 1)).rejects.toThrow('is invalid')
  })
})

test('a run in a process of its own is listed while it lives; a reused process id does not count', async () => {
  const jids = [1, 2, 3, 4].map((n) => `2026112100000000000${n}`)
  const [own = '', gone = '', other = '', broken = ''] = jids
  const run = { fun: 'runner.test.sleep', user: 'ann', fun_args: [9], store: false, detached: true }
  const file = await writeRunFile(config, { jid: own, ...run })
  const write = (jid: string, values: object) =>
    writeFile(join(config.cachedir, 'proc', jid), encodeLocal({ jid, ...run, ...values }))
  await write(gone, { pid: 2 ** 30 })
  await write(other, { pid: process.pid, born: '1' })
  await writeFile(join(config.cachedir, 'proc', broken), 'broken')
  expect((await runningRuns(config)).map(({ jid, pid }) => [jid, pid])).toEqual([[own, process.pid]])
  expect(await master.running()).toEqual([]) // it is the one that asks
  await file.forget()
  expect(await runningRuns(config)).toEqual([])
  expect(await master.killRun(own)).toBe(false)
})

describe('options that are written', () => {
  const path = () => join(folder, 'master.d', 'own.conf')
  const loaded = () => loadMasterConfig({ configDir: folder }).config

  beforeEach(() => writeFile(join(folder, 'master'), 'interface: 127.0.0.1\n'))

  test('are in effect at the next start; with keep others in the file stay', async () => {
    expect(await master.writeConfig('own', { timeout: 9, keep_jobs_seconds: 7 })).toBe(path())
    await master.writeConfig('own', { timeout: 11, id: 'yes' }, { keep: true })
    expect(loaded()).toMatchObject({ timeout: 11, keep_jobs_seconds: 7, id: 'yes' })
    await master.writeConfig('own', { timeout: 12 })
    expect(await readFile(path(), 'utf8')).toBe('timeout: 12\n')
  })

  test('are refused, and change nothing, if the master could not start with them', async () => {
    await expect(master.writeConfig('own', { timeout: 'soon' })).rejects.toThrow('timeout')
    expect(loaded().timeout).toBe(config.timeout)
    await master.writeConfig('own', { timeout: 9 })
    await expect(master.writeConfig('own', { ret_port: -1 }, { keep: true })).rejects.toThrow('ret_port')
    expect(await readFile(path(), 'utf8')).toBe('timeout: 9\n')
    await expect(master.writeConfig('../../etc/passwd', {})).rejects.toThrow('cannot be the name of a file')
    await rm(join(folder, 'master'))
    await expect(master.writeConfig('own', {})).rejects.toThrow('without it no file beside it is read')
  })
})

describe('tokens', () => {
  test('are deleted, once', async () => {
    const token = 'ab'.repeat(32)
    const store = await openTokenStore(config)
    const about = { start: 1, expire: 2, name: 'alice', eauth: 'pam', groups: [] }
    await store.put(createHash('sha256').update(token).digest('hex'), about)
    await store.close()
    expect([await master.tokens.remove(token), await master.tokens.remove(token)]).toEqual([true, false])
  })

  test.each(['../../pki/minions/web1', '..', '.', '/etc/passwd', 'tokens/abc', ''])(
    'CVE-2021-3144, CVE-2020-11652: %j is refused as a token, and deletes nothing',
    async (token) => {
      expect(await master.tokens.remove(token)).toBe(false)
      expect(await readFile(join(config.pki_dir, 'minions/web1'), 'utf8')).toBe('key')
    },
  )
})
