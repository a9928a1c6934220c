/** What a job cache passes on to stores outside. */
import { expect, test } from 'vitest'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const JID = '20300101000000000000'

test('jobs and returns are queued for sinks, jobs alone for those whose returns minions write, with a notification', async () => {
  const folder = await temporaryFolder('salt-ts-sinks-')
  let told = 0
  const jobs = JobCache.open(folder, {
    sinks: ['all'],
    loadSinks: ['all', 'loads'],
    onQueued: () => told++,
  })
  const kinds = (target: string) => jobs.outbox.after(target, -1).map(({ item }) => item.kind)
  await jobs.create(JID, { fun: 'test.ping' }, ['web1'])
  expect(await jobs.addMinions(JID, ['web2'])).toBe(true)
  expect(await jobs.addMinions(JID, ['web1', 'web2'])).toBe(false) // else reports of syndics would never end
  await jobs.saveReturn(JID, 'web1', { return: true })
  expect(kinds('all')).toEqual(['load', 'minions', 'return'])
  expect(kinds('loads')).toEqual(['load', 'minions'])
  expect(told).toBe(4)
  await jobs.close()
  await removeFolder(folder)
})
