/** What a master that is killed loses: nothing. */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { jobCacheDirectory } from '../../core/config/cachedir.ts'
import type { EventBus } from '../../core/events/index.ts'
import { tags } from '../../core/events/index.ts'
import { JobCache } from '../../core/jobs/job-cache.ts'
import { Cluster } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
afterEach(() => cluster?.close())

const MINIONS = ['web1', 'web2', 'web3', 'web4']
const JOBS = 200
const OUTAGE_MS = 5_000
/** Returns in the hands of a master at the moment it is killed: of these it may announce one again. */
const UNDER_WAY = 20

/** Counts the events of returns by tag, across restarts of the master. */
function countReturns(bus: EventBus): Map<string, number> {
  const counts = new Map<string, number>()
  const events = bus.subscribe((tag) => tag.startsWith(tags.jobs) && tag.includes('/ret/'))
  void (async () => {
    for await (const { tag } of events) counts.set(tag, (counts.get(tag) ?? 0) + 1)
  })()
  return counts
}

function storedReturns(jids: readonly string[]): string[] {
  const cache = JobCache.open(jobCacheDirectory(cluster.config))
  const found = jids.flatMap((jid) => [...cache.returns(jid).keys()].map((id) => tags.jobReturn(jid, id)))
  void cache.close()
  return found
}

/** Each run of a job leaves a line in the file of the job and the minion. */
async function runsByFile(ledger: string): Promise<Map<string, number>> {
  const runs = new Map<string, number>()
  for (const name of await readdir(ledger)) {
    const text = await readFile(join(ledger, name), 'utf8')
    runs.set(name, text.split('\n').length - 1)
  }
  return runs
}

test(`${JOBS} jobs on 4 minions survive kill -9 of the master: each runs once, and each return is stored and announced once`, async () => {
  cluster = await Cluster.open({
    minions: MINIONS,
    minion: { process_count_max: 4 },
    master: { worker_threads: 2 },
  })
  const ledger = join(cluster.root, 'ledger')
  await mkdir(ledger)
  const bus = await cluster.events()
  const counts = countReturns(bus)
  const client = await cluster.client()
  const publish = (index: number) => {
    const seconds = 0.1 + (index % 5) / 10
    const command = `echo run >> ${ledger}/${index}-$NAME; sleep ${seconds}; echo ${index}`
    const job = { tgt: '*', fun: 'cmd.run' as const, arg: [command], kwarg: { env: { NAME: '' } } }
    return client.runJob(job).catch((cause: unknown) => {
      const said = cluster.master.output.slice(-4_000)
      throw new Error(`Job ${index} was not published. The master says:\n${said}`, { cause })
    })
  }
  const jids: string[] = []
  const indexes = Array.from({ length: JOBS }).keys()
  const lane = async () => {
    for (const index of indexes) jids.push((await publish(index)).jid)
  }
  await Promise.all(Array.from({ length: 10 }, lane))
  await client.close()

  await until('a fifth of the returns', () => counts.size >= (JOBS * MINIONS.length) / 5)
  await cluster.master.killAll()
  expect(counts.size).toBeLessThan(JOBS * MINIONS.length)
  const last = [...counts.keys()].slice(-UNDER_WAY)
  await delay(OUTAGE_MS)
  await cluster.startMaster()

  const expected = jids.flatMap((jid) => MINIONS.map((id) => tags.jobReturn(jid, id))).sort()
  const sofar = () => `every return: ${counts.size} announced, ${storedReturns(jids).length} stored`
  await until(sofar, () => counts.size === expected.length && storedReturns(jids).length === expected.length)
  expect(storedReturns(jids).sort()).toEqual(expected)
  const twice = [...counts].filter(([, count]) => count !== 1)
  expect(twice.filter(([tag, count]) => count !== 2 || !last.includes(tag))).toEqual([])
  const runs = await runsByFile(ledger)
  expect(runs.size).toBe(JOBS)
  expect([...runs.values()].every((count) => count === MINIONS.length)).toBe(true)
  await bus.close()
}, 300_000)
