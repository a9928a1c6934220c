import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadMasterConfig } from '../../../core/config/index.ts'
import { JobCache } from '../../../core/jobs/index.ts'
import { trimJobs } from '../../../core/master/expiry.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'

test('what is dropped for its size is told in the log and by an event, and what stays over it as well', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'salt-expiry-'))
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
  await rm(directory, { recursive: true })
})
