import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { SteadyTime } from '../../../../core/base/steady-time.ts'
import { MinionStarts } from '../../../../core/cache/minion-starts.ts'
import { minionDataDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { openJobCache } from '../../../../core/jobs/open-job-cache.ts'
import { KeyStore, SessionKeys } from '../../../../core/keys/index.ts'
import { clockLeapMessage, expire, trimJobs } from '../../../../core/master/supervision/expiry.ts'
import { recordingLog } from '../../../../core/testing/recording-log.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { keyPair } from '../../../harness/key-pairs.ts'
import { SLOW } from '../../../harness/slow.ts'

test('jobs that are removed because of keep_jobs_size are logged and announced, as is a size still above it', async () => {
  const directory = await temporaryFolder('salt-expiry-')
  const jobs = JobCache.open(directory)
  const jids = ['20240229120000000001', '20240229120000000002']
  for (const jid of jids) {
    await jobs.create(jid, { fun: 'test.ping', tgt: '*' }, ['a'])
    await jobs.saveReturn(jid, 'a', { return: 'x'.repeat(50_000) })
  }
  const events: unknown[] = []
  const lines: string[] = []
  const log = recordingLog((_, message) => void lines.push(String(message)))
  const trim = (keep_jobs_size: number | string) => {
    const overrides = { keep_jobs_size, cachedir: directory }
    const { config } = loadMasterConfig({ configDir: directory, overrides })
    return trimJobs(config, jobs, log, (tag, data) => void events.push([tag, data]))
  }
  await trim('1K')
  expect(lines).toEqual([expect.stringMatching(/holds 1\d\d(\.\d)? KiB, more than keep_jobs_size \(1 KiB\)/)])
  for (const jid of jids) await jobs.unannounced.remove(jid, 'a')
  await trim(0)
  expect(events).toEqual([])
  await trim('64K')
  expect(lines[1]).toMatch(
    new RegExp(`over keep_jobs_size \\(64 KiB\\): the 2 oldest jobs were dropped, ${jids[0]} to ${jids[1]}`),
  )
  expect(events).toEqual([
    ['salt/jobs/dropped', expect.objectContaining({ count: 2, first: jids[0], last: jids[1] })],
  ])
  await jobs.close()
  await removeFolder(directory)
})

test('jobs expire after keep_jobs_seconds, which is logged; a clock that is ahead expires none', async () => {
  const cachedir = await temporaryFolder('salt-expiry-')
  const overrides = { cachedir, pki_dir: cachedir, keep_jobs_seconds: 60 }
  const { config } = loadMasterConfig({ configDir: cachedir, overrides })
  const jid = '20240229120000000001'
  const jobs = openJobCache(config)
  await jobs.create(jid, { fun: 'test.ping', tgt: '*' }, ['a'])
  const lines: string[] = []
  const log = recordingLog((_, message) => void lines.push(String(message)))
  const state = { time: Date.now(), passed: 0 }
  const clock = { now: () => state.time }
  const time = new SteadyTime({
    clock,
    elapsed: () => state.passed,
    onLeap: (ms) => log.warn(clockLeapMessage(ms)),
  })
  const round = () => expire(config, log, () => undefined, time)
  await round()
  state.time += 8 * 86_400_000
  await round()
  expect(jobs.load(jid)).toBeDefined()
  expect(lines).toEqual([expect.stringContaining('The clock jumped ahead by 11520 minutes')])
  state.passed += 3_600_000
  await round()
  expect(jobs.load(jid)).toBeUndefined()
  expect(lines[1]).toBe(`One job older than keep_jobs_seconds (60) removed: ${jid} to ${jid}.`)
  await jobs.close()
  await removeFolder(cachedir)
})

test('a failed part of the maintenance is named, and the other parts are done', async () => {
  const root = await temporaryFolder('salt-expiry-')
  const { config } = loadMasterConfig({ configDir: root, overrides: { cachedir: root, pki_dir: root } })
  const starts = MinionStarts.open(minionDataDirectory(config))
  await starts.save('gone', { token: 'gone--', address: '', host: 'gone', pid: 1 }, 1)
  vi.spyOn(SessionKeys.prototype, 'prune').mockRejectedValueOnce(new Error('they are broken'))
  vi.spyOn(JobCache.prototype, 'completeIndex').mockRejectedValueOnce(new Error('it is broken, too'))
  const lines: string[] = []
  const log = recordingLog((level, message) => void lines.push(`${level} ${message}`))
  await expire(config, log, () => undefined, { now: () => 1 })
  expect(lines).toEqual([
    'error Maintenance of the job cache failed: it is broken, too',
    'error Maintenance of sessions failed: they are broken',
  ])
  expect(starts.ids()).toEqual([])
  await starts.close()
  await removeFolder(root)
})

test(
  'data of a minion is kept if its key is accepted after the keys were listed, and removed without a key',
  SLOW,
  async () => {
    const root = await temporaryFolder('salt-expiry-')
    const { config } = loadMasterConfig({ configDir: root, overrides: { cachedir: root, pki_dir: root } })
    await mkdir(join(root, 'minions'))
    await writeFile(join(root, 'minions', 'web1'), (await keyPair('web1')).publicKey.pem)
    const starts = MinionStarts.open(minionDataDirectory(config))
    for (const id of ['web1', 'gone'])
      await starts.save(id, { token: id.padEnd(6, '-'), address: '', host: 'web1', pid: 1 }, 1)
    vi.spyOn(KeyStore.prototype, 'minions').mockResolvedValueOnce([])
    await expire(
      config,
      recordingLog(() => undefined),
      () => undefined,
      { now: () => 1 },
    )
    expect(starts.ids()).toEqual(['web1'])
    await starts.close()
    await removeFolder(root)
  },
)
