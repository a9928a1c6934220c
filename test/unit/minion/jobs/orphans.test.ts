import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReturnSpool } from '../../../../core/jobs/return-spool.ts'
import type { SeenJobs } from '../../../../core/jobs/seen-jobs.ts'
import { followOrphans } from '../../../../core/minion/jobs/orphans.ts'
import type { ProcEntry } from '../../../../core/minion/jobs/proc-table.ts'
import { identityOf } from '../../../../core/process/process-identity.ts'
import type { JobLoad } from '../../../../core/wire/publication.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'

const job = {
  jid: '20261122000000000001',
  fun: 'test.sleep',
  arg: [],
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
} satisfies JobLoad
const ret = { return: 'done' }

let folder: string
let spool: ReturnSpool
let process: ChildProcess
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-orphans-')
  spool = ReturnSpool.open(folder)
  process = spawn('sleep', ['600'])
  const publication = { keyDigest: 'key', serial: 1, jid: job.jid, now: Date.now() }
  await spool.seen?.accept(publication, { job, master: '', begun: true })
})
afterEach(async () => {
  process.kill('SIGKILL')
  await spool.close()
  await removeFolder(folder)
})

/** Follow the job until its process has ended, which `meanwhile` comes before. */
async function follow(meanwhile: () => Promise<unknown>) {
  const removed: string[] = []
  const delivered: unknown[] = []
  const failed: unknown[] = []
  const orphan: ProcEntry = { job, process: identityOf(process.pid as number), stop: () => {} }
  const followed = followOrphans([orphan], {
    id: 'web1',
    spool,
    seen: spool.seen as SeenJobs,
    log: quietLog,
    closing: new AbortController().signal,
    procs: { remove: async (jid) => void removed.push(jid) },
    deliver: (entry) => void delivered.push(entry.ret.return),
    persist: async (_, { return: value }) => void failed.push(value),
  })
  await meanwhile()
  process.kill('SIGKILL')
  await once(process, 'exit')
  await followed
  return { removed, delivered, failed }
}

test('the return that its process has left is delivered', async () => {
  expect(await follow(() => spool.add({ jid: job.jid, ret }))).toEqual({
    removed: [job.jid],
    delivered: ['done'],
    failed: [],
  })
})

test('a job whose return was delivered while its process ended gets no second one', async () => {
  const found = await follow(async () => spool.done(await spool.add({ jid: job.jid, ret })))
  expect(found).toEqual({ removed: [job.jid], delivered: [], failed: [] })
})

test('a job that left no return gets a failed one', async () => {
  const { delivered, failed } = await follow(async () => {})
  expect(delivered).toEqual([])
  expect(failed).toEqual([expect.stringContaining('the job left no return')])
})
