/** A job that the master has accepted reaches its minions, also if they lose their connection to it at that moment. */
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LocalClient } from '../../core/client/index.ts'
import { Cluster } from '../harness/daemons.ts'
import { signalAll } from '../harness/processes.ts'
import { readJobCache } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

const MINIONS = ['web1', 'web2']
const JOBS = 10

let cluster: Cluster
let ledger: string
beforeAll(async () => {
  cluster = await Cluster.open({ minions: MINIONS })
  ledger = join(cluster.root, 'ledger')
  await mkdir(ledger)
})
afterAll(() => cluster?.close())

/** Publish jobs of which each run leaves a line in a file of its own. */
async function publish(client: LocalClient, round: string): Promise<string[]> {
  const jids: string[] = []
  for (let n = 0; n < JOBS; n++) {
    const arg = [`echo run >> ${ledger}/${round}-${n}`]
    jids.push((await client.runJob({ tgt: '*', fun: 'cmd.run', arg })).jid)
  }
  return jids
}

/** Lines in the files of a round: one for each run. */
async function runsOf(round: string): Promise<number[]> {
  const files = (await readdir(ledger)).filter((name) => name.startsWith(`${round}-`))
  const texts = await Promise.all(files.map((name) => readFile(join(ledger, name), 'utf8')))
  return texts.map((text) => text.split('\n').length - 1)
}

async function expectEachOnce(jids: readonly string[], round: string): Promise<void> {
  let runs: number[] = []
  await until(
    () => `every run; there are ${runs}; the minions say:\n${logs()}`,
    async () => {
      runs = await runsOf(round)
      return runs.reduce((sum, count) => sum + count, 0) >= JOBS * MINIONS.length
    },
  )
  await until('every return', async () => {
    await delay(500) // each look opens the store, which the master is writing
    const stored = readJobCache(cluster, (cache) => jids.map((jid) => [...cache.returns(jid).keys()].sort()))
    return stored.every((ids) => ids.length === MINIONS.length)
  })
  expect(await runsOf(round)).toEqual(Array.from({ length: JOBS }, () => MINIONS.length))
}

const logs = () => [...cluster.minions.values()].map(({ output }) => output.slice(-5000)).join('\n\n')

test('jobs that are sent after the publisher died run on every minion, once', async () => {
  const client = await cluster.client()
  for (const round of ['a', 'b']) {
    const publisher = cluster.master.processes().filter(({ command }) => command.includes(' publisher'))
    signalAll(
      publisher.map(({ pid }) => pid),
      'SIGKILL',
    )
    await expectEachOnce(await publish(client, round), round)
  }
  await client.close()
})

test('jobs that are sent as soon as a master is up again run on every minion, once', async () => {
  for (const how of ['SIGTERM', 'SIGKILL'] as const) {
    if (how === 'SIGTERM') await cluster.master.stop()
    else await cluster.master.killAll()
    await cluster.startMaster()
    const client = await cluster.client()
    await expectEachOnce(await publish(client, how), how)
    await client.close()
  }
})
