/** Job processes that modules or the host break: each job has one return that says what happened, without native text. */
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untyped } from '../../core/author/calls.ts'
import type { LocalClient } from '../../core/client/index.ts'
import { tags } from '../../core/events/index.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { signalAll } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { awaitedReturn } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

const faults = `
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fn, p } from 'salt-ts'
const refuse = () => { throw new Error('not to be looked at') }
const traps = { get: refuse, has: refuse, getPrototypeOf: refuse, ownKeys: refuse }
export const cut = fn(() => { process.disconnect(); return 'given' })
export const cutAndAsk = fn((_, { call }) => { process.disconnect(); return call('saltutil.running') })
export const ownMessage = fn(() => { process.send({ type: 'return', x: 1 }); return delay(60_000) })
export const askLater = fn({ began: p.string(), go: p.string() }, async ({ began, go }, { call }) => {
  writeFileSync(began, '')
  while (!existsSync(go)) await delay(20)
  return call('saltutil.running')
})
export const memory = fn(() => { const all = []; for (;;) all.push(new Array(1000).fill(all.length)) })
export const abort = fn(() => { console.error('before the end'); process.abort() })
export const proxy = fn(() => { throw new Proxy({}, traps) })
export const getter = fn(() => { throw Object.defineProperty(new Error('x'), 'message', { get: refuse }) })
export const later = fn(() => { setTimeout(() => { throw new Proxy({}, traps) }); return delay(60_000) })
export const wait = fn({ began: p.string(), go: p.string() }, async ({ began, go }) => {
  writeFileSync(began, '')
  while (!existsSync(go)) await delay(20)
  return 'done'
})
`

let cluster: Cluster
let client: LocalClient
let minion: Daemon
/** Tags of the returns that came. */
const returns: string[] = []

beforeAll(async () => {
  cluster = await Cluster.open()
  const modules = join(cluster.root, 'own', 'modules')
  await mkdir(modules, { recursive: true })
  await writeFile(join(modules, 'faults.mjs'), faults)
  client = await cluster.client()
  minion = cluster.minionDaemon('web1', { module_dirs: [join(cluster.root, 'own')] })
  cluster.minions.set('web1', minion)
  await minion.writeConfig()
  minion.start('info', ['env', 'NODE_OPTIONS=--max-old-space-size=120'])
  await minion.logged('is ready to receive jobs')
  const listening = await cluster.events()
  void (async () => {
    for await (const { tag } of listening.subscribe('salt/job/'))
      if (tag.endsWith('/ret/web1')) returns.push(tag)
  })()
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
})

async function start(fun: string, ...arg: unknown[]): Promise<string> {
  const { jid } = await client.runJob({ tgt: 'web1', fun: untyped(fun), arg })
  return jid
}

const returned = (jid: string) => awaitedReturn(cluster, minion, jid)

/** What the spool of the minion still has would be sent within two looks at it: until a later job has returned, all has. */
async function rowsOf(jid: string): Promise<number> {
  await until('the spool to be looked at', async () => {
    const found = await returnsOf(client, { tgt: 'web1', fun: 'saltutil.find_job', arg: [jid] })
    return Object.keys(found.web1 as object).length === 0
  })
  await returned(await start('test.sleep', 11))
  return returns.filter((tag) => tag === tags.jobReturn(jid, 'web1')).length
}

async function restart(): Promise<void> {
  minion.output = ''
  minion.start()
  await minion.logged('is ready to receive jobs')
}

/** Kill the minion while it runs a function that goes on once there is the file `go`. */
async function killMinionDuring(fun: string): Promise<{ jid: string; go: string }> {
  const [began, go] = [join(cluster.root, `${fun}-began`), join(cluster.root, `${fun}-go`)]
  const jid = await start(fun, began, go)
  await until('the job to begin', () => existsSync(began))
  signalAll([minion.pid], 'SIGKILL')
  await minion.exited()
  return { jid, go }
}

test.for([
  ['faults.memory', 'ran out of memory: '],
  ['faults.abort', 'was ended by SIGABRT'],
] as const)(
  '%s: the return says why its process died, in a sentence; no native stack is shown',
  async ([fun, why]) => {
    const ret = await returned(await start(fun))
    expect(ret).toMatchObject({ return: expect.stringContaining(why), success: false, retcode: 1 })
    expect(minion.output).not.toMatch(/stack trace|FATAL ERROR|Last few GCs/)
    if (fun === 'faults.abort') await minion.logged('before the end\n')
  },
)

test.for(['faults.proxy', 'faults.getter', 'faults.later'])(
  '%s: a value that cannot be shown is reported as such',
  async (fun) => {
    expect(await returned(await start(fun))).toMatchObject({
      return: expect.stringContaining('a value that cannot be shown was thrown'),
      success: false,
    })
  },
)

test('a function that closes the connection of its process has one return, its own', async () => {
  const jid = await start('faults.cut')
  expect(await returned(jid)).toMatchObject({ return: 'given', success: true })
  await minion.logged(`The process of job ${jid} lost its connection to the minion: its function closed it`)
  const asking = await returned(await start('faults.cutAndAsk'))
  expect(asking.return).toContain('has closed the connection of its process to the minion')
  expect(await rowsOf(jid)).toBe(1)
  expect(cluster.master.output).not.toContain('a second time')
})

test('the return of a function that sends the minion a message of its own says so', async () => {
  const { return: text, success } = await returned(await start('faults.ownMessage'))
  expect([text, success]).toEqual([
    'ERROR: Its process was ended: its function sent the minion a message of its own (process.send), which only salt-ts may do.',
    false,
  ])
})

test('a job that needs its minion after the minion was killed returns that the minion has ended', async () => {
  const { jid, go } = await killMinionDuring('faults.askLater')
  await writeFile(go, '')
  await restart()
  expect((await returned(jid)).return).toContain('The minion that started this job has ended.')
})

test('a job whose proc file is removed while its minion is down is followed nevertheless: it has one return', async () => {
  const { jid, go } = await killMinionDuring('faults.wait')
  await rm(join(minion.directory, 'cache', 'proc'), { recursive: true })
  await restart()
  const { web1 } = await returnsOf(client, { tgt: 'web1', fun: 'saltutil.find_job', arg: [jid] })
  expect(web1).toMatchObject({ jid, fun: 'faults.wait', pid: expect.any(Number) })
  await writeFile(go, '')
  expect(await returned(jid)).toMatchObject({ return: 'done', success: true })
  expect(await rowsOf(jid)).toBe(1)
})
