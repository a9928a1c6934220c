/** While the disk of the master is full nothing new is begun, and nothing that runs is lost. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { jobCacheDirectory } from '../../core/config/cachedir.ts'
import { type Event, type EventBus, tags } from '../../core/events/index.ts'
import { JobCache } from '../../core/jobs/job-cache.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { Cluster } from '../harness/daemons.ts'
import { MOUNTS, type Need, needs } from '../harness/needs.ts'
import { limitFiles, mountSmallDisk, type SmallDisk } from '../harness/small-disk.ts'
import { readJobCache } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

const MINIONS = ['web1', 'web2']

let cluster: Cluster
let disk: SmallDisk | undefined
afterEach(async () => {
  disk?.makeRoom()
  await cluster?.master.stop()
  disk?.close()
  await cluster?.close()
})

/** The first one needs the right to mount; the second one works anywhere and fails with another error. */
const disks: readonly [name: string, needed: readonly Need[], open: (cluster: Cluster) => SmallDisk][] = [
  ['a disk that is full', [MOUNTS], ({ config }) => mountSmallDisk(config.cachedir, 16)],
  ['a quota that is used up', [], ({ master }) => limitFiles(master)],
]

function seen(bus: EventBus, wanted: (tag: string) => boolean): Event[] {
  const events: Event[] = []
  const subscription = bus.subscribe(wanted)
  void (async () => {
    for await (const event of subscription) events.push(event)
  })()
  return events
}

async function owed(id: string): Promise<number> {
  const spool = ReturnSpool.open(join(cluster.root, id, 'cache', 'spool'))
  const { length } = spool.pending()
  await spool.close()
  return length
}

/** Fill the pages that are free within the store of jobs: a small job would still fit into them. */
async function fillFreePages(): Promise<void> {
  let count = 0
  for (let size = 16_384; size >= 64; size /= 2) {
    // One that has failed refuses everything for a while.
    const jobs = JobCache.open(jobCacheDirectory(cluster.config))
    const fits = () => {
      const jid = `20000101${String(count++).padStart(12, '0')}`
      return jobs.reserve(jid, ['x'.repeat(size)]).catch(() => false)
    }
    while (await fits());
    await jobs.close()
  }
}

const stored = (jid: string) => readJobCache(cluster, (cache) => [...cache.returns(jid).keys()].sort())

for (const [name, needed, open] of disks)
  test(
    `${name}: jobs are refused with a reason, returns wait unacknowledged, and all is stored once there is room`,
    needs(...needed),
    async () => {
      cluster = await Cluster.open({ master: { worker_threads: 2 } })
      if (name === 'a disk that is full') await cluster.master.stop()
      disk = open(cluster)
      if (name === 'a disk that is full') await cluster.startMaster()
      for (const id of MINIONS) await cluster.addMinion(id)
      const bus = await cluster.events()
      const client = await cluster.client()
      const began = (id: string) => join(cluster.root, `began-${id}`)
      const run = async (id: string) => {
        const command = `touch ${began(id)}; sleep 3; echo kept`
        return (await client.runJob({ tgt: [id], tgtType: 'list', fun: 'cmd.run', arg: [command] })).jid
      }
      const jids = await Promise.all(MINIONS.map(run))
      await until('the jobs to begin', () => MINIONS.every((id) => existsSync(began(id))))
      const workers = cluster.master.processes().map(({ pid }) => pid)
      const errors = seen(bus, (tag) => tag.endsWith('/error'))
      const returns = seen(bus, (tag) => tag.includes('/ret/'))
      disk.fill()
      if (name === 'a disk that is full') await fillFreePages()

      const refused = await cluster.spawned('salt', '*', 'test.ping')
      expect(refused.code).not.toBe(0)
      expect(refused.stderr).toMatch(
        /No command was sent, because the job could not be stored\. .*Free some space/,
      )
      await until('the events of returns that cannot be stored', () =>
        jids.every((jid) => errors.some(({ tag }) => tag === tags.jobError(jid))),
      )
      expect(await Promise.all(MINIONS.map(owed))).toEqual([1, 1])
      expect(returns).toEqual([])
      expect(jids.flatMap(stored)).toEqual([])

      disk.makeRoom()
      await until('both returns', () => returns.length === 2)
      expect(jids.map(stored)).toEqual(MINIONS.map((id) => [id]))
      await until('the minions to be told so', async () =>
        (await Promise.all(MINIONS.map(owed))).every((count) => count === 0),
      )
      const { stdout, code } = await cluster.spawned('salt', '*', 'test.ping', '--out', 'json', '--static')
      expect([JSON.parse(stdout), code]).toEqual([{ web1: true, web2: true }, 0])
      expect(cluster.master.processes().map(({ pid }) => pid)).toEqual(workers)
      await client.close()
      await bus.close()
    },
  )

test('a command whose returns cannot be stored ends while the disk is full, and reports the states of the minions', async () => {
  cluster = await Cluster.open({ minions: ['web1'], master: { worker_threads: 2 } })
  const began = join(cluster.root, 'began')
  const asked = cluster.spawned('salt', '-t', '3', '*', 'cmd.run', `touch ${began}; sleep 2; echo kept`)
  await until('the job to begin', () => existsSync(began))
  disk = limitFiles(cluster.master)
  disk.fill()
  const { stdout, code } = await asked
  expect(code).not.toBe(0)
  expect(stdout).toContain('Minion did not return. [Not stored]')
  const [, jid = ''] = /jobs\.lookup_jid (\d+)/.exec(stdout) ?? []
  disk.makeRoom()
  await until('the return', () => stored(jid).length === 1)
})
