import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { pageBlock } from '../harness/page-blocks.ts'
import { signalAll } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

/** Two masters with one key, and a minion of the first that knows both. */
async function open({ onTestFinished }: TestContext, options: Record<string, unknown> = {}) {
  const one = await Cluster.open()
  onTestFinished(() => one.close())
  const two = await Cluster.open({ start: false })
  onTestFinished(() => two.close())
  await two.writeMasterKey(await readFile(join(one.configDir, 'pki', 'master.pem')))
  await two.startMaster()
  const minion = await one.addMinion('web1', {
    master: [one, two].map(({ ports }) => `127.0.0.1:${ports.request}`),
    master_type: 'failover',
    multiprocessing: false,
    ...options,
  })
  return { one, two, minion }
}

const ping = async (cluster: Cluster): Promise<boolean> => {
  const client = await cluster.client()
  const request = { tgt: 'web1', fun: 'test.ping', timeout: 2, gatherJobTimeout: 1 }
  const { web1 } = await returnsOf(client, request).catch(() => ({}) as never)
  await client.close()
  return web1 === true
}

const serves = ({ ports }: Cluster) => `The master 127.0.0.1:${ports.request} serves this minion`

test.concurrent('a minion is served by one master, and by the next one when that is killed', async (context) => {
  const { one, two, minion } = await open(context)
  expect(await ping(one)).toBe(true)
  expect(minion.output).not.toContain(serves(two))
  await one.master.killAll()
  await minion.logged(serves(two))
  expect(await ping(two)).toBe(true)
  await one.startMaster()
  expect(await ping(two)).toBe(true)
})

test.concurrent('a minion leaves a master whose host hangs, although its connections stay open', async (context) => {
  const { one, two, minion } = await open(context)
  const pids = one.master.processes().map(({ pid }) => pid)
  signalAll(pids, 'SIGSTOP')
  await minion.logged(serves(two))
  expect(await ping(two)).toBe(true)
  signalAll(pids, 'SIGCONT')
})

test.concurrent('a master that is restarted keeps its minion, if it is back within master_alive_interval', async (context) => {
  const { one, two, minion } = await open(context, { master_alive_interval: 60 })
  await one.master.stop()
  await one.startMaster()
  await until('the minion', () => ping(one))
  expect(minion.output).not.toContain(serves(two))
})

test.concurrent('with master_failback the minion goes back to the first master', async (context) => {
  const { one, two, minion } = await open(context, { master_failback: true, master_failback_interval: 1 })
  await one.master.killAll()
  await minion.logged(serves(two))
  await one.startMaster()
  await minion.logged('Going back to the master')
  await until('the minion', () => ping(one))
})

test.concurrent('a job that ran when its master was killed is returned to that master, once, when it is back', async (context) => {
  const { one, two, minion } = await open(context)
  const client = await one.client()
  const { jid } = await client.runJob({ tgt: 'web1', fun: 'test.sleep', arg: [3] })
  await client.close()
  await until('the job', async () => minion.output.includes(jid))
  await one.master.killAll()
  await minion.logged(serves(two))
  await one.startMaster()
  await until('the return', async () => {
    const { stdout } = await one.command('salt-run', 'jobs.lookup_jid', jid, '--out', 'json')
    return JSON.parse(stdout || '{}').web1 === true
  })
  expect(await ping(two)).toBe(true)
})

test.concurrent('a function in TypeScript chooses the master, and a missing function is reported in a sentence', async (context) => {
  const { one } = await open(context)
  const dir = join(one.root, 'modules')
  await mkdir(dir)
  const shown = pageBlock('docs/several-masters.md', 'Failover', 'ts')
  await writeFile(join(dir, 'choose.ts'), shown.replace('north-1', `127.0.0.1:${one.ports.request}`))
  const options = {
    master_type: 'func',
    module_dirs: [dir],
    multiprocessing: false,
    grains: { site: 'north' },
  }
  await one.addMinion('web2', { ...options, master: 'choose.pick' })
  const client = await one.client()
  expect(await returnsOf(client, { tgt: 'web2', fun: 'test.ping' })).toEqual({ web2: true })
  await client.close()
  const wrong = await one.startMinion('web3', { ...options, master: 'choose.pikc' })
  await wrong.exited()
  expect(wrong.exitCode).toBe(78)
  expect(wrong.output).toContain("master_type is func, and master names 'choose.pikc'")
})

test.concurrent('with master_type: disable a minion runs without a master', async (context) => {
  const { one } = await open(context)
  const alone = await one.startMinion('web4', { master_type: 'disable' })
  await alone.logged('salt-minion web4 is starting')
  expect((await one.salt('web4', 'test.ping')).code).not.toBe(0)
  await alone.stop()
  expect(alone.exitCode).toBe(0)
})
