/**
 * Entry of a job process: runs one job at a time, in a process group of its own, so that it can be killed with
 * everything it started, and so that a crash is a return and not the end of the minion.
 */
import type { MinionServices } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError, traceOf } from '../base/errors.ts'
import { PROCESS_TOKEN } from '../base/process-identity.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import type { MinionConfig } from '../config/index.ts'
import { Datastore } from '../jobs/datastore.ts'
import { openLoader, type PublishedCall, refusalsHere, watchedBy } from '../loader/index.ts'
import { lineLog } from '../log/line.ts'
import { openMatch } from '../targets/open-match.ts'
import { isTraced, jobTracer } from '../tracing/index.ts'
import { MAX_RETURN, tooLarge } from '../wire/message-size.ts'
import { type JobLoad, readJobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { Executors } from './executors.ts'
import { failedReturn, withoutValue } from './failed-return.ts'
import { createFileServices } from './files.ts'
import { type RunnerSettings, runJob } from './job-runner.ts'
import { LARGE_RETURN, leaveInSpool, spoolLarge } from './job-spool.ts'
import { showJob } from './job-titles.ts'
import type { FromJobProcess, JobProcessStart, ToJobProcess } from './messages.ts'
import { traceRun } from './run-span.ts'
import { guard, outliveErrors } from './uncaught.ts'

const record = (bytes: Uint8Array) => decode(bytes) as Record<string, unknown>

function send(message: FromJobProcess): void {
  if (process.connected) process.send?.(message, () => {}) // the minion may end at this very moment
}

const log = lineLog((line) => send({ type: 'log', line }), 'JobProcess')

/** Calls to the minion's main process that wait for their answer. */
const waiting = new Map<number, ReturnType<typeof deferred<unknown>>>()
let calls = 0

/** Every method of the services is a message to the main process and its answer. */
const asked = new Proxy({} as MinionServices, {
  get: (_, method) => (typeof method === 'string' ? (...args: unknown[]) => call(method, args) : undefined),
})

/** Files are fetched and written by the process of the job: only what is asked of the master goes by the main process. */
const servicesWith = (own: Pick<MinionServices, 'files' | 'sync'>): MinionServices =>
  new Proxy(asked, {
    get: (_, name) => Reflect.get(Object.hasOwn(own, name) ? own : asked, name),
  })

function call(method: string, args: readonly unknown[]): Promise<unknown> {
  const answer = deferred<unknown>()
  if (process.connected) {
    waiting.set(++calls, answer)
    answer.promise.catch(() => {}) // who does not wait for it need not hear that the minion has ended
    send({ type: 'call', call: calls, method, args: encodeLocal(args) })
  } else answer.reject(minionGone())
  // An event that nobody can pass on any more is no reason for a job to fail.
  return method.startsWith('fire') ? answer.promise.catch(() => false) : answer.promise
}

/** The function of a job has closed the connection to the minion. */
let isCutOff = false
const disconnect = process.disconnect?.bind(process)
process.disconnect = () => {
  isCutOff = true
  disconnect?.()
}

const minionGone = () =>
  new SaltError(
    'MASTER_UNREACHABLE',
    isCutOff
      ? 'A function of this job has closed the connection of its process to the minion (process.disconnect): nothing can be asked of the minion.'
      : 'The minion of this job has ended meanwhile.',
  )

/** How long a job may take to end after SIGTERM. */
const GRACE_MS = 1000

let settings: RunnerSettings | undefined
/** The job that runs; aborted when it is to end. */
let running: { readonly jid: string; readonly abort: AbortController } | undefined
let ending: NodeJS.Timeout | undefined
/** Told whether the minion has the return on disk, or has died before. */
let kept: ((kept: boolean) => void) | undefined

async function start(given: JobProcessStart): Promise<void> {
  const { id, config, grains, pillar, loadMs, blocked } = given
  const known = { grains: record(grains), pillar: record(pillar) }
  const loading = {
    config,
    ...known,
    log,
    timeoutMs: loadMs,
    onOverride: () => {}, // the minion has told it once for all its processes
    ...watchedBy(send, blocked),
  }
  const loader = openLoader('modules', loading)
  const match = await openMatch({
    ...{ config, id, ...known, log },
    datastore: new Datastore((config as MinionConfig).cachedir),
  })
  const own = createFileServices({
    config: config as MinionConfig,
    grains: known.grains,
    log,
    request: (load) => asked.request(load),
    refreshModules: () => asked.refreshModules(),
    refreshGrains: () => asked.refreshGrains(),
  })
  const executors = new Executors({ ...loading, ofJobs: true })
  settings = { id, config, ...known, loader, executors, services: servicesWith(own), match, log }
  send({ type: 'ready' })
  await loader.warmUp()
}

async function work({
  job: published,
  master,
  words,
}: Extract<ToJobProcess, { type: 'job' }>): Promise<void> {
  const job = readJobLoad(record(published))
  if (!settings || !job) return
  const { id } = settings
  const abort = new AbortController()
  let known: JobLoad = { ...job, arg: [] }
  const failed = (reason: string) => failedReturn(known, id, reason)
  running = { jid: job.jid, abort }
  showJob(job.jid)
  const onShown = async (shown: JobLoad) => {
    known = shown
    send({ type: 'shown', job: encodeLocal(shown) })
  }
  const run = runJob.bind(undefined, job, { ...settings, onShown }, abort.signal, words)
  const tracer = await jobTracer()
  const traced = () =>
    traceRun(tracer, job, id, run).catch((error: unknown) => {
      log.error(`Job ${job.jid} could not be run: ${traceOf(error)}`)
      return failed('The job could not be run; the log of the minion says why.')
    })
  const given = await guard(traced, { abort, log, alone: true, failed })
  running = undefined
  clearTimeout(ending)
  const { ret, bytes, wasTooLarge } = sendable(given)
  const returned = { jid: job.jid, ret, job: { ...job, arg: ret.fun_args }, master }
  const isLarge = bytes.length >= LARGE_RETURN
  const spooled = isLarge ? await spoolLarge(returned, settings) : undefined
  const last = isLarge || wasTooLarge || abort.signal.aborted // the memory of a large one is given back with the process
  const handed = spooled ? { ret: encodeLocal({ ...ret, return: null }), spooled } : { ret: bytes }
  if (!(await handOver({ ...handed, last })) && !spooled) await leaveInSpool(returned, settings)
  showJob()
  if (last || !process.connected) await leave()
}

/** The return with its bytes; without its value if no master would take it. */
function sendable(given: ReturnLoad) {
  const bytes = encodeLocal(given)
  if (bytes.length <= MAX_RETURN) return { ret: given, bytes, wasTooLarge: false }
  const ret = withoutValue(given, tooLarge('The return', bytes.length, MAX_RETURN))
  return { ret, bytes: encodeLocal(ret), wasTooLarge: true }
}

/** With the last spans of its jobs sent. */
async function leave(): Promise<never> {
  if (isTraced()) await (await jobTracer())?.flush()
  process.exit(0)
}

/** A question is asked while no job runs. Whoever asked gives up by themselves. */
async function answer(question: (settings: RunnerSettings) => Promise<unknown>): Promise<void> {
  if (!settings) return
  try {
    send({ type: 'answered', answer: encodeLocal(await question(settings)) })
  } catch (error) {
    log.debug(`A question about modules was not answered: ${messageOf(error)}`)
  }
}

const check = (calls: Uint8Array, { loader, executors }: RunnerSettings) =>
  refusalsHere(decode(calls) as unknown as PublishedCall[], loader, executors?.isElsewhere)

/** Resolves with true when the minion has the return on disk, with false when it died before. */
async function handOver(handed: Omit<Extract<FromJobProcess, { type: 'return' }>, 'type'>): Promise<boolean> {
  const answer = deferred<boolean>()
  kept = answer.resolve
  if (process.connected) send({ type: 'return', ...handed })
  else answer.resolve(false)
  return answer.promise.finally(() => {
    kept = undefined
  })
}

process.on('message', (message: ToJobProcess) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'job') void work(message)
  else if (message.type === 'kept') kept?.(true)
  else if (message.type === 'check') void answer((settings) => check(message.calls, settings))
  else if (message.type === 'describe') void answer(({ loader }) => loader.describe(message.imports))
  else {
    const call = waiting.get(message.call)
    waiting.delete(message.call)
    if (message.type === 'answer') call?.resolve(decode(message.value))
    else call?.reject(new Error(message.message))
  }
})

process.on('disconnect', () => {
  for (const answer of waiting.values()) answer.reject(minionGone())
  if (kept) kept(false)
  else if (!running) void leave()
})

process.on('SIGTERM', () => {
  if (running) {
    running.abort.abort(new SaltError('CANCELLED', `Job ${running.jid} was ended by SIGTERM.`))
    ending ??= setTimeout(endBySignal, GRACE_MS)
  } else if (!kept) void leave()
})

/** A job that is to be killed gets SIGINT first, and its process SIGKILL if it does not end in time. */
process.on('SIGINT', () => {
  running?.abort.abort(new SaltError('CANCELLED', `Job ${running.jid} was killed (SIGINT before SIGKILL).`))
})

/** The job does not end: so does this process, in a way that says why. */
function endBySignal(): void {
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
}

outliveErrors(log)
process.stderr.on('error', () => {}) // the minion has ended, and nobody reads it
delete process.env[PROCESS_TOKEN]
showJob()
