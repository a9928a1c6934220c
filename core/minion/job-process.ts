/**
 * Entry of a job process: runs one job at a time, in a process group of its own, so that it can be killed with
 * everything it started, and so that a crash is a return and not the end of the minion.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Log, MinionServices } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf, SaltError, traceOf } from '../base/errors.ts'
import { PROCESS_TOKEN } from '../base/process-identity.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import type { MinionConfig } from '../config/index.ts'
import { Datastore } from '../jobs/datastore.ts'
import { ReturnSpool, type SpooledReturn } from '../jobs/return-spool.ts'
import { type Loader, openLoader, type PublishedCall, refusalsHere, watchedBy } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { isTraced, jobTracer } from '../tracing/index.ts'
import { type JobLoad, readJobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { failedReturn } from './failed-return.ts'
import { createFileServices } from './files.ts'
import { type RunnerSettings, runJob } from './job-runner.ts'
import { type FromJobProcess, type JobProcessStart, logLevels, type ToJobProcess } from './messages.ts'
import { spoolDirectory } from './paths.ts'
import { traceRun } from './run-span.ts'

const record = (bytes: Uint8Array) => decode(bytes) as Record<string, unknown>

function send(message: FromJobProcess): void {
  if (process.connected) process.send?.(message, () => {}) // the minion may end at this very moment
}

const log = Object.fromEntries(
  logLevels.map((level) => [
    level,
    (message: string, facts?: object) => send({ type: 'log', level, message, ...(facts && { facts }) }),
  ]),
) as unknown as Log

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

const minionGone = () => new SaltError('MASTER_UNREACHABLE', 'The minion of this job has ended meanwhile.')

/** How long a job may take to end after SIGTERM. */
const GRACE_MS = 1000
const RETRY_MS = 1000

let settings: RunnerSettings | undefined
/** The job that runs; aborted when it is to end. */
let running:
  | {
      readonly jid: string
      readonly abort: AbortController
      /** What it returns is not waited for any more. */
      giveUp(reason: string): void
    }
  | undefined
let ending: NodeJS.Timeout | undefined
/** Told whether the minion has the return on disk, or has died before. */
let kept: ((kept: boolean) => void) | undefined

async function start(given: JobProcessStart): Promise<void> {
  const { id, config, grains, pillar, loadMs, blocked } = given
  const known = { grains: record(grains), pillar: record(pillar) }
  const loader = openLoader('modules', {
    config,
    ...known,
    log,
    timeoutMs: loadMs,
    onOverride: () => {}, // the minion has told it once for all its processes
    ...watchedBy(send, blocked),
  })
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
  settings = { id, config, ...known, loader, services: servicesWith(own), match, log }
  send({ type: 'ready' })
  await loader.warmUp()
}

async function work({ job: bytes, master, words }: Extract<ToJobProcess, { type: 'job' }>): Promise<void> {
  const job = readJobLoad(record(bytes))
  if (!settings || !job) return
  const { id } = settings
  const abort = new AbortController()
  const givenUp = deferred<ReturnLoad>()
  let known: JobLoad = { ...job, arg: [] }
  const giveUp = (reason: string) => givenUp.resolve(failedReturn(known, id, reason))
  running = { jid: job.jid, abort, giveUp }
  const onShown = async (shown: JobLoad) => {
    known = shown
    send({ type: 'shown', job: encodeLocal(shown) })
  }
  const run = runJob.bind(undefined, job, { ...settings, onShown }, abort.signal, words)
  const ret = await Promise.race([traceRun(await jobTracer(), job, id, run), givenUp.promise])
  running = undefined
  clearTimeout(ending)
  const last = abort.signal.aborted
  if (!(await handOver(encodeLocal(ret), last)))
    await leaveInSpool({ jid: job.jid, ret, job: { ...job, arg: ret.fun_args }, master }, settings)
  if (last || !process.connected) await leave()
}

/** With the last spans of its jobs sent. */
async function leave(): Promise<never> {
  if (isTraced()) await (await jobTracer())?.flush()
  process.exit(0)
}

/** A question is asked while no job runs. Whoever asked gives up by themselves. */
async function answer(question: (loader: Loader) => Promise<unknown>): Promise<void> {
  if (!settings) return
  try {
    send({ type: 'answered', answer: encodeLocal(await question(settings.loader)) })
  } catch (error) {
    log.debug(`A question about modules was not answered: ${messageOf(error)}`)
  }
}

const check = (calls: Uint8Array, loader: Loader) =>
  refusalsHere(decode(calls) as unknown as PublishedCall[], loader)

/** Resolves with true when the minion has the return on disk, with false when it died before. */
async function handOver(ret: Uint8Array, last: boolean): Promise<boolean> {
  const answer = deferred<boolean>()
  kept = answer.resolve
  if (process.connected) send({ type: 'return', ret, last })
  else answer.resolve(false)
  return answer.promise.finally(() => {
    kept = undefined
  })
}

/** The minion died over this job: its return is kept for the minion's next life, as soon as there is room. */
async function leaveInSpool(ret: SpooledReturn, { config }: RunnerSettings): Promise<void> {
  if (config.pub_ret === false) return
  for (;;) {
    try {
      const spool = ReturnSpool.open(spoolDirectory(config), { returners: config.return })
      if (!spool.find(ret.jid)) await spool.add(ret)
      return await spool.close()
    } catch {
      await delay(RETRY_MS)
    }
  }
}

process.on('message', (message: ToJobProcess) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'job') void work(message)
  else if (message.type === 'kept') kept?.(true)
  else if (message.type === 'check') void answer((loader) => check(message.calls, loader))
  else if (message.type === 'describe') void answer((loader) => loader.describe())
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

/** An error that nothing of the job has caught, in a timer or a promise it does not wait for: it fails, as the process would. */
function onUncaught(thrown: unknown): void {
  const sentence = `The minion function caused an exception that nothing caught: ${traceOf(thrown)}`
  if (!running) {
    log.error(sentence)
    return
  }
  if (running.abort.signal.aborted) return
  const { giveUp } = running
  running.abort.abort(new SaltError('CANCELLED', sentence))
  ending ??= setTimeout(() => giveUp(sentence), GRACE_MS)
}

process.on('uncaughtException', onUncaught)
process.on('unhandledRejection', onUncaught)
process.stderr.on('error', () => {}) // the minion has ended, and nobody reads it
delete process.env[PROCESS_TOKEN]
