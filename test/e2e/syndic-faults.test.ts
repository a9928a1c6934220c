import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { Cluster, jobsWithin } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

/** Opens the clusters of a test, which are closed after it, the last one first. */
function opener({ onTestFinished }: TestContext) {
  return async (options: Parameters<typeof Cluster.open>[0]): Promise<Cluster> => {
    const cluster = await Cluster.open({ minion: jobsWithin, ...options })
    onTestFinished(() => cluster.close())
    return cluster
  }
}

const above = (...masters: Cluster[]) => ({
  syndic_master: masters.map(({ ports }) => `127.0.0.1:${ports.request}`),
})

/** Open a master of masters, and below it one with a minion and its syndic. */
async function topAndLow(context: TestContext) {
  const open = opener(context)
  const top = await open({ master: { order_masters: true } })
  const low = await open({ minions: ['web1'], master: above(top) })
  return { top, low, syndic: await low.addSyndic('low') }
}

async function lookUp(cluster: Cluster, jid: string): Promise<Record<string, unknown>> {
  const { stdout } = await cluster.command('salt-run', 'jobs.lookup_jid', jid, '--out', 'json')
  return JSON.parse(stdout || '{}')
}

/** Wait until a master has these returns of a job. */
const hasReturns = (cluster: Cluster, jid: string, expected: Record<string, unknown>) =>
  until(`the returns of ${jid}`, async () => {
    const found = await lookUp(cluster, jid)
    return Object.keys(expected).every((id) => found[id] === expected[id]) && found
  })

test.concurrent('a return reaches the master above although that master and the syndic are killed while the job runs', async (context) => {
  const { top, low, syndic } = await topAndLow(context)
  const client = await top.client()
  const { jid } = await client.runJob({ tgt: '*', fun: 'test.sleep', arg: [2] })
  await client.close()
  const lowClient = await low.client()
  await until('the job below', async () => low.master.output.includes(`with jid ${jid}`))
  await top.master.killAll()
  await syndic.killAll()
  await until('the return below', async () => (await lookUp(low, jid)).web1 === true)
  await lowClient.close()
  await top.startMaster()
  syndic.start()
  expect(await hasReturns(top, jid, { web1: true })).toEqual({ web1: true })
})

test.concurrent('a syndic stops while the master above does not answer, and sends the return when both are back', async (context) => {
  const { top, low, syndic } = await topAndLow(context)
  const client = await top.client()
  const { jid } = await client.runJob({ tgt: '*', fun: 'test.sleep', arg: [1] })
  await client.close()
  await low.master.logged(`with jid ${jid}`)
  await top.master.killAll()
  await hasReturns(low, jid, { web1: true })
  await syndic.stop()
  await top.startMaster()
  syndic.start()
  expect(await hasReturns(top, jid, { web1: true })).toEqual({ web1: true })
})

test.concurrent('a job that is published while the syndic is down runs when it is up again', async (context) => {
  const { top, syndic } = await topAndLow(context)
  await syndic.stop()
  const client = await top.client()
  const { jid } = await client.runJob({ tgt: '*', fun: 'test.echo', arg: ['late'] })
  await client.close()
  syndic.start()
  expect(await hasReturns(top, jid, { web1: 'late' })).toEqual({ web1: 'late' })
})

test.concurrent('three levels of masters are one fleet for the top master', async (context) => {
  const open = opener(context)
  const top = await open({ minions: ['at-top'], master: { order_masters: true } })
  const middle = await open({ minions: ['at-middle'], master: { order_masters: true, ...above(top) } })
  const low = await open({ minions: ['at-low'], master: above(middle) })
  await middle.addSyndic('middle')
  await low.addSyndic('low')
  const { stdout, stderr } = await top.salt('*', 'test.ping', '--out', 'json', '--static')
  expect(JSON.parse(stdout), stderr).toEqual({ 'at-top': true, 'at-middle': true, 'at-low': true })
})

test.concurrent('a master below two masters, which are below a third one, runs a job once and returns it by both', async (context) => {
  const open = opener(context)
  const top = await open({ master: { order_masters: true } })
  const left = await open({ master: { order_masters: true, ...above(top) } })
  const right = await open({ master: { order_masters: true, ...above(top) } })
  await right.master.stop()
  await right.writeMasterKey(await readFile(join(left.configDir, 'pki', 'master.pem')))
  await right.startMaster()
  const low = await open({ minions: ['web1'], master: above(left, right) })
  await left.addSyndic('left')
  await right.addSyndic('right')
  await low.addSyndic('low')
  const client = await top.client()
  const run = await client.cmdIter({ tgt: '*', fun: 'test.ping' })
  const results = []
  for await (const { id, state } of run) results.push([id, state])
  await client.close()
  expect(results).toEqual([['web1', 'returned']])
  for (const master of [left, right]) await hasReturns(master, run.jid, { web1: true })
  expect(
    low.master.output.match(new RegExp(`Published command test.ping with jid ${run.jid}`, 'g')),
  ).toHaveLength(1)
})

test.concurrent('two masters above each other run a job once, and report the circle', async (context) => {
  const open = opener(context)
  const one = await open({ minions: ['at-one'], master: { order_masters: true } })
  const two = await open({ minions: ['at-two'], master: { order_masters: true, ...above(one) } })
  await one.master.stop()
  await one.master.writeConfig(above(two))
  await one.startMaster()
  await two.addSyndic('two')
  const syndic = await one.addSyndic('one')
  // The return of at-one must not reach the other master before the job does, which then looks like one of its own.
  const published = join(one.root, 'published')
  const command = `until [ -e ${published} ]; do sleep 0.1; done; echo done`
  const ended = one.salt('*', 'cmd.run', command, '--out', 'json', '--static')
  await two.master.logged('Published command cmd.run')
  await writeFile(published, '')
  const { stdout, stderr } = await ended
  expect(JSON.parse(stdout), stderr).toEqual({ 'at-one': 'done', 'at-two': 'done' })
  expect(syndic.output).toContain('which was published on this host')
})
