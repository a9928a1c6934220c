/** Several masters with a store in common (`cluster_id`), over ZeroMQ and over NATS. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, type TestContext, test } from 'vitest'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, program } from '../harness/needs.ts'
import { signalAll } from '../harness/processes.ts'
import { startNats, startRedis } from '../harness/store-servers.ts'
import { until } from '../harness/until.ts'

type Options = Record<string, unknown>

/** Masters with one key. Only the first accepts keys. */
async function openMasters(
  { onTestFinished }: TestContext,
  count: number,
  options: Options,
): Promise<Cluster[]> {
  const masters: Cluster[] = []
  for (let n = 0; n < count; n++) {
    const own = { id: `master${n + 1}`, auto_accept: n === 0, cluster_id: 'north', ...options }
    const master = await Cluster.open({ start: false, master: own })
    onTestFinished(() => master.close())
    masters.push(master)
    const [first] = masters
    if (first && n > 0)
      await master.writeMasterKey(await readFile(join(first.configDir, 'pki', 'master.pem')))
  }
  return masters
}

const json = async (master: Cluster, program: 'salt' | 'salt-run' | 'salt-key', ...words: string[]) =>
  JSON.parse((await master.command(program, ...words, '--out', 'json')).stdout || '{}')

const accepted = async (master: Cluster): Promise<string[]> => (await json(master, 'salt-key', '-L')).minions

const ping = (master: Cluster, target = '*', timeout = '3') =>
  json(master, 'salt', target, 'test.ping', '--static', '--timeout', timeout)

/** Ping minions that are there, and wait for them on a slow machine. */
const pingAll = (master: Cluster) => ping(master, '*', '20')

/** Start a job, and kill its master while these minions run it. */
async function killDuringJob(master: Cluster, minions: readonly Daemon[]): Promise<string> {
  const client = await master.client()
  const { jid } = await client.runJob({ tgt: '*', fun: 'test.sleep', arg: [2] })
  await client.close()
  for (const minion of minions) await minion.logged(jid)
  await master.master.killAll()
  return jid
}

const returned = (master: Cluster, jid: string, ids: readonly string[]) =>
  until(`the returns of job ${jid}`, async () => {
    const found = await json(master, 'salt-run', 'jobs.lookup_jid', jid)
    return ids.every((id) => found[id] === true)
  })

/** Publish a job that waits for a minion that is away, and kill its master once another one has the job. */
async function killWhileJobWaits(master: Cluster, other: Cluster, id: string): Promise<string> {
  const client = await master.client()
  const { jid } = await client.runJob({ tgt: id, fun: 'test.ping', deliverWithin: 3_600 })
  await client.close()
  await other.master.logged(`Took over waiting/${jid}`)
  await master.master.killAll()
  return jid
}

describe('two masters over ZeroMQ that share Redis', needs(program('redis-server')), () => {
  async function openPair(context: TestContext, minion: Options = {}, master: Options = {}) {
    const redis = await startRedis()
    context.onTestFinished(() => redis.drop())
    const store = { host: '127.0.0.1', port: redis.port }
    const masters = await openMasters(context, 2, {
      ...master,
      master_job_cache: 'redis',
      redis: store,
      missing_returns_after: 5,
    })
    const [one, two] = masters as [Cluster, Cluster]
    await one.startMaster()
    await two.startMaster([], 'debug')
    const options = {
      master: masters.map(({ ports }) => `127.0.0.1:${ports.request}`),
      multiprocessing: false,
      ...minion,
    }
    const web1 = await one.addMinion('web1', options)
    return { one, two, web1, options }
  }

  test.concurrent("have the same keys, and find each other's jobs", async (context) => {
    const { one, two } = await openPair(context)
    await until('the key on both', async () => (await accepted(two)).includes('web1'))
    await until('the minion on the second', async () => (await ping(two, 'web1')).web1 === true)
    expect(await ping(one, 'web1')).toEqual({ web1: true })
    const client = await two.client()
    const { jid } = await client.runJob({ tgt: '*', fun: 'test.ping' })
    await client.close()
    await returned(one, jid, ['web1'])
    expect(await two.command('salt-key', '-d', 'web1', '-y')).toMatchObject({ code: 0 })
    await until('no key on the first', async () => (await accepted(one)).length === 0)
  })

  test.concurrent('accept a token of the other master until one of them revokes it', async (context) => {
    const folder = await temporaryFolder()
    context.onTestFinished(() => removeFolder(folder))
    const token_file = join(folder, 'token')
    const { one, two } = await openPair(
      context,
      {},
      { token_file, sharedsecret: 'geheim', external_auth: { sharedsecret: { fred: ['test.*'] } } },
    )
    await until('the minion on the second', async () => (await ping(two, 'web1')).web1 === true)
    const login = ['username=fred', 'sharedsecret=geheim', 'eauth=sharedsecret']
    const { token } = await json(one, 'salt-run', 'auth.mk_token', ...login)
    await writeFile(token_file, token, { mode: 0o600 })
    const withToken = (fun: string, on = two) =>
      on.command('salt', '-a', 'sharedsecret', 'web1', fun, '--out', 'json')
    await until('the token on the second', async () => (await withToken('test.ping')).code === 0)
    expect((await withToken('sys.doc')).code).not.toBe(0)
    expect(await json(two, 'salt-run', 'auth.del_token', token)).toBe(true)
    await until('no token on the first', async () => (await withToken('test.ping', one)).code !== 0)
  })

  test.concurrent('give a minion a job that waited for it at a master that is gone', async (context) => {
    const { one, two, web1 } = await openPair(context)
    await until('the key on both', async () => (await accepted(two)).includes('web1'))
    await until('the minion on both', async () => (await ping(two, 'web1')).web1 === true)
    await web1.stop()
    const jid = await killWhileJobWaits(one, two, 'web1')
    web1.start()
    await returned(two, jid, ['web1'])
  })

  test.concurrent.for([{}, { master_type: 'failover' }])(
    "accept the return of each other's jobs, which both show afterwards (%j)",
    async (options, context) => {
      const { one, two, web1, options: all } = await openPair(context, options)
      const gone = await one.addMinion('gone', all)
      await gone.stop()
      await until('the keys on both', async () => (await accepted(two)).length === 2)
      await until('the minion', async () => (await ping(one, 'web1')).web1 === true)
      await until('its presence on both', async () => {
        const present = await Promise.all([one, two].map((each) => json(each, 'salt-run', 'manage.present')))
        return present.every((ids) => ids.length === 1 && ids[0] === 'web1')
      })
      if (!('master_type' in options))
        await until('the minion', async () => (await ping(two, 'web1')).web1 === true)
      const jid = await killDuringJob(one, [web1])
      await returned(two, jid, ['web1'])
      await one.startMaster()
      await returned(one, jid, ['web1'])
      // Of the minions that have not returned to it, it records only those as missing that have returned to nobody.
      await until('the row of the minion that is away', async () => {
        const { gone } = await json(two, 'salt-run', 'jobs.lookup_jid', jid)
        return String(gone).startsWith('Minion did not return.')
      })
      expect((await json(two, 'salt-run', 'jobs.lookup_jid', jid)).web1).toBe(true)
    },
  )
})

test.concurrent('a master with a cluster_id but without a shared store does not start, and names the options to set', async ({
  onTestFinished,
}) => {
  const master = await Cluster.open({ start: false, master: { cluster_id: 'north' } })
  onTestFinished(() => master.close())
  const { code, stderr } = await master.spawned('salt-master')
  expect(stderr).toContain(
    'cluster_id needs a store that the masters share: set master_job_cache to nats, redis',
  )
  expect(code).not.toBe(0)
})

describe('three masters over NATS', needs(program('nats-server')), () => {
  test.concurrent('are one fleet: each publishes to all minions, serves all, and accepts returns for jobs of one that is gone', async (context) => {
    const server = await startNats()
    context.onTestFinished(() => server.drop())
    const options = { transport: 'nats', nats: { servers: [`127.0.0.1:${server.port}`], prefix: 'north' } }
    const peer = { '.*': ['test.*'] }
    const masters = await openMasters(context, 3, { ...options, peer, master_job_cache: 'nats' })
    const [one, two, three] = masters as [Cluster, Cluster, Cluster]
    await one.command('salt-run', 'returner.migrate', 'nats')
    await one.startMaster()
    const ids = ['web1', 'web2', 'db1']
    const minions = await Promise.all(
      ids.map((id) => one.addMinion(id, { ...options, multiprocessing: false })),
    )
    await two.startMaster()
    await three.startMaster([], 'debug')
    const all = Object.fromEntries(ids.map((id) => [id, true]))
    for (const master of masters) {
      await until('all minions', async () => {
        const client = await master.client()
        const plan = await client.plan({ tgt: '*', fun: 'test.ping' })
        await client.close()
        return plan.allowed && plan.connected.length === 3
      })
      expect(await pingAll(master)).toEqual(all)
      expect(await json(master, 'salt', '-G', 'os:*', 'test.ping', '--static')).toEqual(all)
      const published = await json(master, 'salt', 'web1', 'publish.publish', '*', 'test.ping')
      expect(published.web1).toEqual(all)
    }
    const jid = await killDuringJob(two, minions)
    await returned(one, jid, ids)
    await returned(three, jid, ids)
    expect(await pingAll(three)).toEqual(all)
    await two.startMaster()
    expect(await pingAll(two)).toEqual(all)
    await returned(two, jid, ids)
    const pids = three.master.processes().map(({ pid }) => pid)
    signalAll(pids, 'SIGSTOP')
    for (let n = 0; n < 5; n++) expect(await pingAll(one)).toEqual(all)
    signalAll(pids, 'SIGCONT')
    expect(await pingAll(three)).toEqual(all)
    await minions[2]?.stop()
    const waiting = await killWhileJobWaits(one, three, 'db1')
    minions[2]?.start()
    await returned(three, waiting, ['db1'])
    await two.master.killAll()
    expect(await pingAll(three)).toEqual(all)
  })
})
