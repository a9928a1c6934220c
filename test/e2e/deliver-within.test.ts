/** Jobs for minions that are away: `--deliver-within`, jobs.waiting, jobs.cancel. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectedIds } from '../../core/cache/connected.ts'
import type { EventBus } from '../../core/events/index.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let bus: EventBus
let away: Daemon
let seen: string[]
let listening: AbortController

beforeAll(async () => {
  const waits = { timeout: 2, gather_job_timeout: 1 }
  const minion = { process_count_max: 1 }
  cluster = await Cluster.open({ minions: ['web1', 'web2'], master: waits, minion })
  away = cluster.minions.get('web2') as Daemon
})
afterAll(() => cluster?.close())

beforeEach(async () => {
  await away.stop()
  await until('the loss of the connection to be noticed', async () => {
    const ids = await connectedIds(cluster.config)
    return ids && !ids.includes('web2')
  })
  await listen()
})
afterEach(async () => {
  listening.abort()
  await bus.close()
})

async function listen(): Promise<void> {
  seen = []
  bus = await cluster.events()
  listening = new AbortController()
  const events = bus.subscribe('salt/', listening.signal)
  void (async () => {
    for await (const { tag } of events) seen.push(tag)
  })().catch(() => {})
}

const event = (tag: string) =>
  until(
    () => `${tag}; seen: ${seen.join(' ')}`,
    () => seen.includes(tag),
  )

async function comeBack(): Promise<void> {
  away.output = ''
  away.start()
  await away.logged('is ready to receive jobs')
}

/** Run a job that leaves a line in a file of its own; return its id, and what `salt` printed. */
async function send(name: string, within: string, ...flags: string[]) {
  const command = `echo run >> ${join(cluster.root, name)}`
  const result = await cluster.salt('--deliver-within', within, '-v', ...flags, '*', 'cmd.run', command)
  const jid = /jid (\d{20})/.exec(result.stdout)?.[1] ?? 'none'
  return { ...result, jid }
}

const runs = async (name: string) => (await readFile(join(cluster.root, name), 'utf8')).split('\n').length - 1

/** The last job to be published has returned from the minion that was away, so that earlier ones would have run. */
async function caughtUp(): Promise<void> {
  const { stdout } = await cluster.salt('web2', 'test.ping')
  expect(stdout).toContain('True')
}

test('a minion that was down runs the job once when it comes up, also after a restart of the master', async () => {
  const { jid, code, stdout } = await send('kept', '1h')
  expect(stdout).toContain('[Waiting]')
  expect([code, await runs('kept')]).toEqual([0, 1])

  const waiting = await cluster.command('salt-run', 'jobs.waiting', '--out', 'json')
  expect(JSON.parse(waiting.stdout)).toMatchObject({ [jid]: { Function: 'cmd.run', Waiting: ['web2'] } })
  const found = await cluster.command('salt-run', 'jobs.lookup_jid', jid, 'missing=True')
  expect(found.stdout).toContain('State: waiting. The minion has not taken the job.')

  await cluster.master.killAll()
  await cluster.startMaster()
  await bus.close()
  await listen()
  await comeBack()
  await event(`salt/job/${jid}/delivered/web2`)
  await event(`salt/job/${jid}/ret/web2`)
  await away.stop()
  await comeBack()
  await caughtUp()
  expect(await runs('kept')).toBe(2)
})

test('a cancelled job never runs, the others do', async () => {
  const [cancelled, kept] = [await send('cancelled', '1h'), await send('others', '1h')]
  const { stdout } = await cluster.command('salt-run', 'jobs.cancel', cancelled.jid, '--out', 'json')
  expect(JSON.parse(stdout)).toEqual({ Cancelled: ['web2'] })
  await event(`salt/job/${cancelled.jid}/cancelled/web2`)
  await comeBack()
  await event(`salt/job/${kept.jid}/ret/web2`)
  expect([await runs('cancelled'), await runs('others')]).toEqual([1, 2])
  const found = await cluster.command('salt-run', 'jobs.lookup_jid', cancelled.jid, 'missing=True')
  expect(found.stdout).toContain('The job was cancelled before the minion had taken it')
})

test('a cancelled job without --deliver-within is not given to a minion that comes back within a minute', async () => {
  const published = await cluster.salt('--async', 'web2', 'cmd.run', `echo run > ${cluster.root}/plain`)
  const jid = /\d{20}/.exec(published.stdout)?.[0] ?? ''
  const { stdout, code } = await cluster.command(
    'salt-run',
    'jobs.cancel',
    jid,
    'minions=web*',
    '--out',
    'json',
  )
  const why =
    'The minion has not returned, and is not known to run it. If it does not have it, it does not get it any more.'
  expect([code, JSON.parse(stdout)]).toEqual([
    1,
    { Cancelled: [], 'Not cancelled': { web2: why }, retcode: 1 },
  ])
  await comeBack()
  await caughtUp()
  expect(existsSync(`${cluster.root}/plain`)).toBe(false)
})

test('a batch of the master that is cancelled before its turn is sent to no minion', async () => {
  const started = await cluster.salt(
    '-b',
    '1',
    '--async',
    '*',
    'cmd.run',
    `echo run > ${cluster.root}/unsent`,
  )
  const jid = /\d{20}/.exec(started.stdout)?.[0] ?? ''
  const { stdout, code } = await cluster.command('salt-run', 'jobs.cancel', jid, '--out', 'json')
  expect([code, JSON.parse(stdout)]).toEqual([0, { Cancelled: ['web1', 'web2'] }])
  await event(`salt/batch/${jid}/done`)
  const found = await cluster.command('salt-run', 'jobs.lookup_jid', jid, 'missing=True', '--out', 'json')
  const why = 'The batch ended before the job was sent to this minion. Batch run stopped on request.'
  expect(JSON.parse(found.stdout)).toEqual({ web1: why, web2: why })
  expect(existsSync(`${cluster.root}/unsent`)).toBe(false)
})

test('a job whose time is over, or whose minion had its key deleted, does not run', async () => {
  const late = await send('late', '1')
  await event(`salt/job/${late.jid}/expired/web2`)
  const revoked = await send('revoked', '1h')
  await cluster.command('salt-key', '-y', '-d', 'web2')
  await event(`salt/job/${revoked.jid}/cancelled/web2`)
  await comeBack()
  await caughtUp()
  expect([await runs('late'), await runs('revoked')]).toEqual([1, 1])
})

test('in a batch, a minion that does not answer the ping gets the job when it comes', async () => {
  const { stdout, code } = await send('batch', '1h', '-b', '1')
  expect(stdout).toContain('[Waiting]')
  expect(code).toBe(0)
  await comeBack()
  await until('its run', async () => (await runs('batch')) === 2)
})

test('a job that a minion has queued can be cancelled, one that runs cannot', async () => {
  await comeBack()
  const running = await cluster.salt('--async', 'web1', 'cmd.run', 'sleep 60')
  const queued = await cluster.salt('--async', 'web1', 'cmd.run', `echo run > ${cluster.root}/queued`)
  const [first, second] = [running, queued].map(({ stdout }) => /\d{20}/.exec(stdout)?.[0] ?? '')
  const cancel = async (jid = '') =>
    JSON.parse((await cluster.command('salt-run', 'jobs.cancel', jid, '--out', 'json')).stdout)
  await until('the jobs to be there', async () => {
    const { stdout } = await cluster.salt('web1', 'saltutil.is_running', 'cmd.run', '--out', 'json')
    return JSON.parse(stdout).web1.length === 2
  })
  expect(await cancel(second)).toEqual({ Cancelled: ['web1'] })
  const kill = `It runs there. To end it: salt web1 saltutil.kill_job ${first}`
  expect(await cancel(first)).toEqual({ Cancelled: [], 'Not cancelled': { web1: kill }, retcode: 1 })
  const { stdout } = await cluster.command('salt-run', 'jobs.lookup_jid', second ?? '')
  expect(stdout).toContain('was cancelled before it began')
  await cluster.salt('web1', 'saltutil.kill_job', first ?? '')
})
