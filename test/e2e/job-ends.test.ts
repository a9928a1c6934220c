/** However a job ends, and whatever becomes of its minion meanwhile, its return arrives, once. */
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { untyped } from '../../core/author/calls.ts'
import type { LocalClient, MinionResult } from '../../core/client/index.ts'
import { Cluster, type Daemon } from '../harness/daemons.ts'
import { isAlive, signalAll } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { awaitedReturn, storedReturn } from '../harness/stored-returns.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let client: LocalClient
let minion: Daemon
/** For files of one test. */
let folder: string

beforeAll(async () => {
  cluster = await Cluster.open({ minions: ['web1'] })
  client = await cluster.client()
  minion = cluster.minions.get('web1')!
})
beforeEach(async () => {
  folder = await mkdtemp(join(cluster.root, 'job-'))
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
})

/** A job that writes down its shell's process id when it has begun; perhaps with another function after it. */
async function begin(script: string, next?: string): Promise<string> {
  const began = join(folder, 'began')
  const command = `echo $$ > ${began}.new; mv ${began}.new ${began}; ${script}`
  const { jid } = await client.runJob({
    tgt: 'web1',
    fun: next ? ['cmd.run', next].map(untyped) : untyped('cmd.run'),
    arg: next ? [[command], []] : [command],
  })
  await until('the job to begin', () => existsSync(began))
  return jid
}

const began = async (): Promise<number> => Number(await readFile(join(folder, 'began'), 'utf8'))

async function restart(): Promise<void> {
  minion.output = ''
  minion.start()
  await minion.logged('is ready to receive jobs')
}

async function kill(): Promise<void> {
  signalAll([minion.pid], 'SIGKILL')
  await minion.exited()
}

const returned = (jid: string) => awaitedReturn(cluster, minion, jid)

async function ask(fun: string, ...arg: unknown[]): Promise<unknown> {
  return (await returnsOf(client, { tgt: 'web1', fun, arg })).web1
}

test('kill -9 of the minion while a job runs, and a restart at once: the job is listed as running, and its return comes', async () => {
  const go = join(folder, 'go')
  const jid = await begin(`until [ -e ${go} ]; do sleep 0.1; done; echo done`)
  await kill()
  await restart()
  expect(await ask('saltutil.find_job', jid)).toMatchObject({ jid, fun: 'cmd.run' })
  await writeFile(go, '')
  expect(await returned(jid)).toMatchObject({ return: 'done', retcode: 0, success: true })
  await until(
    'the job to be over',
    async () => Object.keys((await ask('saltutil.find_job', jid)) ?? {}).length === 0,
  )
})

test('kill -9 of the minion while a job runs that ends before the restart: its return comes', async () => {
  const jid = await begin('sleep 1; echo done')
  await kill()
  await until('the job process to be gone', () => minion.processes().length === 0)
  expect(storedReturn(cluster, jid)).toBeUndefined()
  await restart()
  expect(await returned(jid)).toMatchObject({ return: 'done', retcode: 0, success: true })
})

test('a function that throws after its minion was killed leaves its return, too', async () => {
  const jid = await begin('sleep 2', 'test.exception')
  await kill()
  await until('the job process to be gone', () => minion.processes().length === 0)
  await restart()
  expect(await returned(jid)).toMatchObject({
    return: { 'test.exception': expect.stringContaining('Test Exception') },
    retcode: { 'cmd.run': 0, 'test.exception': 1 },
  })
})

test('SIGTERM of the minion while a long job runs: the job continues, its return comes', async () => {
  const go = join(folder, 'go')
  const jid = await begin(`until [ -e ${go} ]; do sleep 0.1; done; echo done`)
  await minion.stop('SIGTERM')
  await writeFile(go, '')
  await restart()
  expect(await returned(jid)).toMatchObject({ return: 'done', retcode: 0, success: true })
})

test('kill -9 of the minion and of all it started: the restarted minion returns the job as failed', async () => {
  const jid = await begin('sleep 600')
  await minion.killAll()
  await restart()
  expect(await returned(jid)).toMatchObject({
    return: expect.stringMatching(/^ERROR: The minion ended while job .* unknown how much/),
    retcode: 1,
    success: false,
  })
})

test.each(['SIGKILL', 'SIGSEGV', 'SIGABRT'] as const)(
  'a job process that dies of %s gives a return that names the signal',
  async (signal) => {
    const jid = await begin('sleep 600')
    const job = minion.processes().find(({ pid }) => pid === Number(jobProcess(jid)))
    signalAll([job!.pid], signal)
    const ret = await returned(jid)
    expect(ret).toMatchObject({ retcode: 1, success: false })
    expect(ret.return).toContain(signal)
    signalAll([await began()], 'SIGKILL')
    expect(await ask('test.echo', 'next')).toBe('next')
  },
)

const jobProcess = (jid: string): string | undefined =>
  new RegExp(`Starting a new job ${jid} with PID (\\d+)`).exec(minion.output)?.[1]

test.each([
  ['saltutil.kill_job', 'SIGKILL'],
  ['saltutil.term_job', 'SIGTERM'],
])('%s ends all processes of the job, grandchildren too, and its return says so', async (fun, signal) => {
  const child = join(folder, 'child')
  const grandchild = join(folder, 'grandchild')
  const jid = await begin(
    `sleep 601 & echo $! > ${child}; (sh -c 'sleep 602 & echo $! > ${grandchild}' &) ; wait`,
  )
  const written = (file: string) => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')
  await until('the grandchild', () => written(child) && written(grandchild))
  const pids = [
    await began(),
    Number(await readFile(child, 'utf8')),
    Number(await readFile(grandchild, 'utf8')),
  ]
  expect(pids.every(isAlive)).toBe(true)
  expect(await ask(fun, jid)).toMatch(/^Signal \d+ sent to job/)
  const ret = await returned(jid)
  expect(ret).toMatchObject({ retcode: 1, success: false })
  expect(ret.return).toContain(signal)
  await until('all to be gone', () => !pids.some(isAlive))
})

test('jobs that start right after a terminated one are not hit by its end', async () => {
  const jid = await begin('sleep 600')
  await ask('saltutil.term_job', jid)
  await returned(jid)
  const results: MinionResult[] = []
  for (const until = performance.now() + 2_000; performance.now() < until; ) {
    for await (const result of await client.cmdIter({
      tgt: 'web1',
      fun: 'cmd.run',
      arg: ['sleep 0.2; echo ok'],
    }))
      results.push(result)
  }
  expect(results.map((result) => (result.state === 'returned' ? result.return : result))).toEqual(
    results.map(() => 'ok'),
  )
})

test('a job that ignores SIGTERM is killed after a second', async () => {
  const deaf = join(folder, 'deaf')
  const listens = `process.on("SIGTERM", () => {}); require("fs").writeFileSync("${deaf}", "")`
  const jid = await begin(`trap '' TERM; node -e '${listens}; setTimeout(() => {}, 600_000)'`)
  await until('it to be deaf', () => existsSync(deaf))
  const pid = await began()
  await ask('saltutil.term_job', jid)
  expect((await returned(jid)).return).toContain('SIGTERM')
  await until('its command to be gone', () => !isAlive(pid))
})
