import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { execPath } from 'node:process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ReturnSpool, type SpoolEntry } from '../../../../core/jobs/return-spool.ts'
import type { SeenJobs } from '../../../../core/jobs/seen-jobs.ts'
import { followOrphans } from '../../../../core/minion/jobs/orphans.ts'
import type { ProcEntry } from '../../../../core/minion/jobs/proc-table.ts'
import { identityOf, isRunning } from '../../../../core/process/process-identity.ts'
import type { JobLoad } from '../../../../core/wire/publication.ts'
import type { ReturnLoad } from '../../../../core/wire/return.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { SLOW } from '../../../harness/slow.ts'

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

const orphanOf = (job: JobLoad, { pid }: ChildProcess): ProcEntry => ({
  job,
  process: identityOf(pid as number),
  stop: () => {},
})

const settings = () => ({
  id: 'web1',
  spool,
  seen: spool.seen as SeenJobs,
  log: quietLog,
  closing: new AbortController().signal,
  procs: { remove: async () => {} },
  deliver: (_: SpoolEntry) => {},
  persist: async (_: ProcEntry, { return: value }: ReturnLoad) => {
    throw new Error(`A failed return: ${value}`)
  },
})

/** Follow the job until its process has ended, which `meanwhile` comes before. */
async function follow(meanwhile: () => Promise<unknown>) {
  const removed: string[] = []
  const delivered: unknown[] = []
  const failed: unknown[] = []
  const followed = followOrphans([orphanOf(job, process)], {
    ...settings(),
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

test('the return that its process has left is delivered', SLOW, async () => {
  expect(await follow(() => spool.add({ jid: job.jid, ret }))).toEqual({
    removed: [job.jid],
    delivered: ['done'],
    failed: [],
  })
})

/** Add a return as another process does, at once. */
function addElsewhere(jid: string): void {
  const program = `
    const { ReturnSpool } = await import(${JSON.stringify(new URL('../../../../core/jobs/return-spool.ts', import.meta.url).href)})
    const spool = ReturnSpool.open(${JSON.stringify(folder)})
    await spool.add({ jid: '${jid}', ret: { return: 'done' } })
    await spool.close()`
  const words = ['--conditions', 'source', '--import', 'tsx', '--input-type', 'module', '-e', program]
  execFileSync(execPath, words, { stdio: 'inherit' })
}

test(
  'a return that a process leaves during the delivery of another is noticed, also within the same turn',
  SLOW,
  async () => {
    const other = spawn('sleep', ['600'])
    const late = { ...job, jid: '20261122000000000002' }
    const delivered: string[] = []
    await spool.add({ jid: job.jid, ret })
    const followed = followOrphans([orphanOf(job, process), orphanOf(late, other)], {
      ...settings(),
      deliver: ({ jid }) => {
        if (delivered.push(jid) > 1) return
        addElsewhere(late.jid)
        other.kill('SIGKILL')
        while (isRunning(identityOf(other.pid as number)));
      },
    })
    process.kill('SIGKILL')
    await followed
    expect(delivered).toEqual([job.jid, late.jid])
  },
)

test('a job whose return was delivered while its process ended gets no second return', SLOW, async () => {
  const found = await follow(async () => spool.done(await spool.add({ jid: job.jid, ret })))
  expect(found).toEqual({ removed: [job.jid], delivered: [], failed: [] })
})

test('a job without a return gets a failed one', SLOW, async () => {
  const { delivered, failed } = await follow(async () => {})
  expect(delivered).toEqual([])
  expect(failed).toEqual([expect.stringContaining('the job left no return')])
})
