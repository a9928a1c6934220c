/** While the disk of a minion is full its jobs run or are refused with a reason, and no return is lost. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { MOUNTS, needs } from '../harness/needs.ts'
import { limitFiles, mountSmallDisk, type SmallDisk } from '../harness/small-disk.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let disk: SmallDisk | undefined
afterEach(async () => {
  disk?.makeRoom()
  for (const minion of cluster?.minions.values() ?? []) await minion.stop()
  disk?.close()
  disk = undefined
  await cluster?.close()
})

/** Of the one minion, as data. */
async function answer(...words: string[]): Promise<{ value: unknown; code: number | null }> {
  const { stdout, code } = await cluster.spawned('salt', 'web1', ...words, '--out', 'json')
  return { value: stdout && JSON.parse(stdout).web1, code }
}

/** A job that has begun; `end` lets it end, and gives what `salt` shows of it then. */
async function beginJob(): Promise<{ end(): ReturnType<typeof answer> }> {
  const [began, over] = [join(cluster.root, 'began'), join(cluster.root, 'over')]
  const shown = answer('cmd.run', `touch ${began}; until [ -e ${over} ]; do sleep 0.1; done; echo kept`)
  await until('the job to begin', () => existsSync(began))
  return {
    end: () => {
      writeFileSync(over, '')
      return shown
    },
  }
}

const REFUSED =
  /^ERROR: The job was not run\. (?:The disk is full: n|N)othing was stored in .*Free some space/

/** Who waits asks after 3 seconds; a busy machine may take its time to answer. */
async function fresh(): Promise<void> {
  cluster = await Cluster.open({ master: { timeout: 3, gather_job_timeout: 30 } })
}

test('with a used-up quota jobs are refused with a reason, a running one returns, and all works once there is room', async () => {
  await fresh()
  const minion = await cluster.addMinion('web1')
  const job = await beginJob()
  disk = limitFiles(minion)
  disk.fill()
  expect(await answer('cmd.run', 'echo ran')).toEqual({ value: expect.stringMatching(REFUSED), code: 1 })
  expect(await answer('test.ping')).toEqual({ value: true, code: 0 })
  const { value } = await answer('saltutil.running')
  expect(value).toContainEqual(expect.objectContaining({ fun: 'cmd.run' })) // perhaps with what asks for it
  expect(await job.end()).toEqual({ value: 'kept', code: 0 })
  expect(await answer('saltutil.running')).toEqual({ value: [], code: 0 })
  disk.makeRoom()
  expect(await answer('cmd.run', 'echo ran')).toEqual({ value: 'ran', code: 0 })
})

test('a return is kept in memory until the disk can be written or the master acknowledges it', async () => {
  await fresh()
  const minion = await cluster.addMinion('web1')
  const job = await beginJob()
  await cluster.master.stop()
  disk = limitFiles(minion)
  disk.fill()
  const shown = job.end()
  await minion.logged('is in memory only, until the master acknowledges it or the disk can be written')
  await cluster.startMaster()
  expect(await shown).toEqual({ value: 'kept', code: 0 })
})

test(
  'on a full disk failures are logged, a minion starts, and all works once there is room',
  needs(MOUNTS),
  async () => {
    await fresh()
    disk = mountSmallDisk(join(cluster.root, 'web1', 'cache'), 4)
    const minion: Daemon = await cluster.addMinion('web1')
    const job = await beginJob()
    disk.fill()
    for (const word of ['one', 'two']) {
      const { value } = await answer('cmd.run', `echo ${word}`) // records that are free are used again: it may run
      expect(value === word || REFUSED.test(String(value)), String(value)).toBe(true)
    }
    expect(await job.end()).toEqual({ value: 'kept', code: 0 })
    await minion.stop()
    minion.output = ''
    minion.start()
    await minion.logged('is ready to receive jobs')
    expect(await answer('test.ping')).toEqual({ value: true, code: 0 })
    disk.makeRoom()
    expect(await answer('cmd.run', 'echo ran')).toEqual({ value: 'ran', code: 0 })
  },
)
