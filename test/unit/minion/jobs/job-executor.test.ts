import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { MinionServices } from '../../../../core/author/context.ts'
import { type Deferred, deferred } from '../../../../core/base/deferred.ts'
import type { SaltError } from '../../../../core/base/errors.ts'
import {
  type ExecutorSettings,
  type JobEnvironment,
  JobExecutor,
} from '../../../../core/minion/jobs/job-executor.ts'
import type { PooledJob } from '../../../../core/minion/jobs/job-pool.ts'
import { ProcTable } from '../../../../core/minion/jobs/proc-table.ts'
import type { JobLoad } from '../../../../core/wire/publication.ts'
import { makeReturn, type ReturnLoad } from '../../../../core/wire/return.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { until } from '../../../harness/until.ts'
import { fakeContext } from '../../modules/context.ts'

const PID = 2 ** 22 + 1 // greater than any of Linux
const PROCESS = { pid: PID }
let folder: string
let procs: ProcTable
let persisted: ReturnLoad[]
/** Ends of the jobs in the pool, by jid. */
let ends: Map<string, Deferred<void>>
/** Jobs that waited and were to begin. */
let beginnings: string[]

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-executor-')
  procs = (await ProcTable.open(folder)).procs
  persisted = []
  ends = new Map()
  beginnings = []
})
afterEach(() => removeFolder(folder))

const job = (number: number, fun = 'cmd.run'): JobLoad => ({
  jid: `2026112100000000000${number}`,
  fun,
  arg: [],
  tgt: '*',
  tgt_type: 'glob',
  ret: '',
})
const returned = (load: JobLoad, value: unknown) =>
  makeReturn(load, 'm1', { return: value, retcode: 0, success: true })

const runHere = vi.fn(async (load: JobLoad) => returned(load, 'here'))
const pool = {
  idle: 8,
  async run(load: JobLoad, { started, finished }: PooledJob) {
    await started(PROCESS)
    const end = deferred()
    ends.set(load.jid, end)
    await end.promise
    await finished(returned(load, 'there'))
  },
}

function openExecutor(changes: Partial<ExecutorSettings> = {}) {
  const context = fakeContext()
  const executor = new JobExecutor({
    id: 'm1',
    log: context.log,
    procs,
    pool,
    answersHere: ({ fun }) => /^saltutil\.|^test\.ping$/.test(String(fun)),
    runHere,
    multiprocessing: true,
    limit: -1,
    closing: new AbortController().signal,
    ...changes,
  })
  const environment = (load: JobLoad): JobEnvironment => ({
    services: {} as MinionServices,
    master: '127.0.0.1:4506',
    findSpooled: () => undefined,
    beginning: async () => void beginnings.push(load.jid),
    persist: async (ret) => {
      persisted.push(ret)
      await procs.remove(ret.jid)
    },
  })
  return { executor, environment, lines: context.lines }
}

function open(changes: Partial<ExecutorSettings> = {}) {
  const { executor, environment, lines } = openExecutor(changes)
  const run = (load: JobLoad, refusal?: () => Promise<string | undefined>) =>
    executor.run(load, executor.enqueue(load), { ...environment(load), ...(refusal && { refusal }) })
  return { run, lines }
}

const begun = (load: JobLoad) => until('the job to begin', () => ends.get(load.jid))
const persistedValues = () => persisted.map(({ jid, return: value }) => [Number(jid.slice(-1)), value])

test('a job runs in a process, is listed meanwhile, and its return is stored', async () => {
  const { run, lines } = open()
  const running = run(job(1))
  const end = await begun(job(1))
  expect(procs.running()).toMatchObject([{ job: job(1), process: PROCESS, master: '127.0.0.1:4506' }])
  expect(lines.map(({ message }) => message)).toContain(`Starting a new job ${job(1).jid} with PID ${PID}`)
  end.resolve()
  await running
  expect([persistedValues(), procs.size]).toEqual([[[1, 'there']], 0])
})

test.each([true, false])(
  'a job is listed without its arguments until it is known which are secret (multiprocessing: %s)',
  async (multiprocessing) => {
    const known: unknown[] = []
    const look = () => known.push(procs.running().map(({ job: { arg } }) => arg))
    const load = { ...job(1), arg: ['hunter2'] }
    const shown = { ...load, arg: ['**********'] }
    const { run } = open({
      multiprocessing,
      pool: {
        idle: 1,
        async run(load, pooled) {
          await pooled.started(PROCESS)
          look()
          await pooled.shown(shown)
          await pooled.finished(returned(load, 'there'))
        },
      },
      async runHere(load, { onShown }) {
        look()
        await onShown?.(shown)
        return returned(load, 'here')
      },
    })
    const remove = vi.spyOn(procs, 'remove').mockImplementationOnce(async () => void look())
    await run(load)
    expect(known).toEqual([[[]], [['**********']]])
    remove.mockRestore()
  },
)

test('requests about jobs are answered at once, even if no other job may run', async () => {
  const { run } = open({ limit: 1 })
  const busy = run(job(1))
  const end = await begun(job(1))
  for (const fun of ['test.ping', 'saltutil.find_job', 'saltutil.running', 'saltutil.kill_job'])
    await run(job(2, fun))
  expect(persistedValues()).toEqual([2, 2, 2, 2].map((number) => [number, 'here']))
  end.resolve()
  await busy
})

test('jobs beyond the limit wait for their turn in order, listed as waiting', async () => {
  const { run } = open({ limit: 1 })
  const all = [job(1), job(2), job(3)].map((one) => run(one))
  const first = await begun(job(1))
  await until('the others to wait', () => procs.size === 3)
  expect([1, 2, 3].map((number) => procs.get(job(number).jid)?.process)).toEqual([
    PROCESS,
    undefined,
    undefined,
  ])
  first.resolve()
  ;(await begun(job(2))).resolve()
  ;(await begun(job(3))).resolve()
  await Promise.all(all)
  expect(persistedValues()).toEqual([
    [1, 'there'],
    [2, 'there'],
    [3, 'there'],
  ])
})

test('a job that is ended while it waits does not run, and says so; the next one is not delayed', async () => {
  const { run } = open({ limit: 1 })
  const all = [job(1), job(2), job(3)].map((one) => run(one))
  const first = await begun(job(1))
  await until('the others to wait', () => procs.size === 3)
  procs.get(job(2).jid)?.stop(15)
  await all[1]
  expect(persistedValues()).toEqual([[2, `ERROR: Job ${job(2).jid} was ended by SIGTERM before it began.`]])
  first.resolve()
  ;(await begun(job(3))).resolve()
  await Promise.all(all)
  expect(ends.has(job(2).jid)).toBe(false)
})

test('a job that is cancelled while its start is recorded does not run', async () => {
  const { run } = open({
    pool: {
      idle: 0,
      async run(load, { started, finished }) {
        const stop = procs.get(load.jid)?.stop
        const begins = started(PROCESS)
        stop?.(0)
        const why = await begins.catch((error: Error) => error.message)
        await finished(returned(load, why))
      },
    },
  })
  await run(job(1))
  expect(persistedValues()).toEqual([[1, `Job ${job(1).jid} was cancelled before it began.`]])
})

test('a job is listed, and can be ended, while it is checked whether it may run', async () => {
  const { run } = open()
  const looked = deferred<string | undefined>()
  const all = [job(1), job(2, 'test.ping'), job(3)].map((one) => run(one, () => looked.promise))
  await until('all to be known', () => procs.size === 3)
  procs.get(job(3).jid)?.stop(15)
  await all[2]
  looked.resolve('There is no such returner.')
  await Promise.all(all)
  expect(persistedValues()).toEqual([
    [3, `ERROR: Job ${job(3).jid} was ended by SIGTERM before it began.`],
    [1, 'ERROR: There is no such returner.'],
    [2, 'ERROR: There is no such returner.'],
  ])
  expect(ends.size).toBe(0)
})

test('a job whose process could not be used frees its slot', async () => {
  const broken = { idle: 1, run: vi.fn(async () => Promise.reject(new Error('no process'))) }
  const { run } = open({ limit: 1, pool: broken })
  await expect(run(job(1))).rejects.toThrow('no process')
  await expect(run(job(2))).rejects.toThrow('no process')
})

test('without multiprocessing a job runs in this process, and is ended by its signal', async () => {
  const reasons: unknown[] = []
  const { run } = open({
    multiprocessing: false,
    runHere: async (load, _services, signal) => {
      procs.get(load.jid)?.stop(9)
      reasons.push((signal.reason as SaltError).message)
      return returned(load, 'ended')
    },
  })
  await run(job(1))
  expect(reasons).toEqual([`Job ${job(1).jid} was ended by SIGKILL while it ran.`])
  expect(persistedValues()).toEqual([[1, 'ended']])
})

test('a full disk does not keep a job from running', async () => {
  const add = vi.spyOn(procs, 'add').mockRejectedValue(new Error('no space left'))
  const { run, lines } = open()
  const running = run(job(1))
  ;(await begun(job(1))).resolve()
  await running
  expect(persistedValues()).toEqual([[1, 'there']])
  expect(lines).toContainEqual({
    level: 'warn',
    message: `The file of job ${job(1).jid} was not written: no space left.`,
  })
  add.mockRestore()
})

test('only jobs that had to wait are recorded as begun when they begin', async () => {
  const { run } = open({ limit: 2, pool: { ...pool, idle: 1 } })
  const all = [1, 2, 3].map((number) => run(job(number)))
  for (const number of [1, 2, 3]) (await begun(job(number))).resolve()
  await Promise.all(all)
  expect(beginnings).toEqual([job(2).jid, job(3).jid]) // the second waited for a process, the third for its turn
})

test('waiting jobs are left unchanged when the minion ends', async () => {
  const closing = new AbortController()
  const { run } = open({ limit: 1, closing: closing.signal })
  const all = [job(1), job(2)].map((one) => run(one))
  const first = await begun(job(1))
  closing.abort()
  await all[1]
  first.resolve()
  await all[0]
  expect(persistedValues()).toEqual([[1, 'there']])
  expect([...ends.keys()]).toEqual([job(1).jid])
})

test('a job whose check fails with an error returns the error and frees its slot', async () => {
  const { run } = open({ limit: 1 })
  await run(job(1), async () => {
    throw new Error('The returner process is gone.')
  })
  expect(persistedValues()).toEqual([[1, 'ERROR: The returner process is gone.']])
  const next = run(job(2))
  ;(await begun(job(2))).resolve()
  await next
  expect(procs.size).toBe(0)
})

test('without multiprocessing a job that waited and must not begin returns the reason', async () => {
  const { executor, environment } = openExecutor({ multiprocessing: false, limit: 1 })
  const [first, second] = [deferred(), job(2)]
  runHere.mockImplementationOnce(async (load) => {
    await first.promise
    return returned(load, 'here')
  })
  const running = executor.run(job(1), executor.enqueue(job(1)), environment(job(1)))
  const waiting = executor.run(second, executor.enqueue(second), {
    ...environment(second),
    beginning: () => Promise.reject(new Error('The disk is full.')),
  })
  first.resolve()
  await Promise.all([running, waiting])
  expect(persistedValues()).toEqual([
    [1, 'here'],
    [2, 'ERROR: The disk is full.'],
  ])
  expect(procs.size).toBe(0)
})
