import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { localRecords } from '../../../../core/client/local/master-records.ts'
import { jobCacheDirectory } from '../../../../core/config/cachedir.ts'
import { loadMasterConfig, type MasterConfig } from '../../../../core/config/index.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const jid = '20261129120000000001'
let folder: string
let config: MasterConfig
beforeEach(async () => {
  folder = await temporaryFolder()
  config = loadMasterConfig({ configDir: folder, overrides: { root_dir: folder } }).config
})
afterEach(() => removeFolder(folder))

test('a job cache that this process has open is read, not opened again, and stays open', async () => {
  const jobs = JobCache.open(jobCacheDirectory(config))
  await jobs.create(jid, { fun: 'test.ping' }, ['web1'])
  await jobs.saveReturn(jid, 'web1', {
    id: 'web1',
    jid,
    fun: 'test.ping',
    return: true,
    success: true,
    retcode: 0,
  })
  const open = vi.spyOn(JobCache, 'open')
  const records = localRecords(config, jobs)
  const found = []
  for await (const result of records.returns(jid, ['web1', 'web2'])) found.push(result.id)
  expect(found).toEqual(['web1'])
  expect((await records.silence(new Set(['web2']), jid)).waiting).toEqual([])
  expect(open).not.toHaveBeenCalled()
  open.mockRestore()
  expect(jobs.return(jid, 'web1')).toMatchObject({ return: true })
  await jobs.close()
})
