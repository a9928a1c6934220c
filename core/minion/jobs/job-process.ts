/**
 * Entry of a job process. It runs one job at a time in its own process group, so that the job can be killed together with
 * everything it started, and so that a crash gives a failed return instead of ending the minion.
 */
import type { MinionServices } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import type { ErrorCode } from '../../base/error-codes.ts'
import { messageOf, SaltError, traceOf } from '../../base/errors.ts'
import { decode, encodeLocal } from '../../codec/index.ts'
import type { MinionConfig } from '../../config/index.ts'
import { type FileClientSettings, unanswered } from '../../fileserver/index.ts'
import { openLoader, type PublishedCall, refusalsHere, watchedBy } from '../../loader/index.ts'
import { createRelayLog } from '../../log/relay.ts'
import { connectParent } from '../../process/parent.ts'
import { PROCESS_TOKEN } from '../../process/process-identity.ts'
import { openMatch } from '../../targets/open-match.ts'
import { isTraced, jobTracer } from '../../tracing/index.ts'
import { MAX_RETURN_BYTES, tooLargeText } from '../../wire/message-size.ts'
import { type JobLoad, readJobLoad } from '../../wire/publication.ts'
import type { ReturnLoad } from '../../wire/return.ts'
import { Datastore } from '../datastore.ts'
import { createFileServices } from '../files.ts'
import { Executors } from './executors.ts'
import { failedReturn, withoutValue } from './failed-return.ts'
import { executeJob, type RunnerSettings } from './job-runner.ts'
import { LARGE_RETURN_BYTES, spoolForNextRun, spoolLarge } from './job-spool.ts'
import { setProcessTitle } from './job-titles.ts'
import type { DownloadFailure, FromJobProcess, JobProcessStart, ToJobProcess } from './messages.ts'
import { traceRun } from './run-span.ts'
import { runGuarded, surviveUncaughtErrors } from './uncaught.ts'

const record = (bytes: Uint8Array) => decode(bytes) as Record<string, unknown>

const minion = connectParent<ToJobProcess, FromJobProcess>({ onMessage, onGone: endWithoutMinion })
const send = (message: FromJobProcess): void => void minion.send(message)

const log = createRelayLog((line) => send({ type: 'log', line }), 'JobProcess')

/** Calls to the minion process that wait for their answer, by number. */
const waiting = new Map<number, ReturnType<typeof deferred<unknown>>>()
let calls = 0

/** Services whose every method sends a message to the minion process and waits for its answer. */
const remoteServices = new Proxy({} as MinionServices, {
  get: (_, method) => (typeof method === 'string' ? (...args: unknown[]) => call(method, args) : undefined),
})

/**
 * Return services in which `files` and `sync` run in this process. Only their requests to the master pass through the minion
 * process.
 */
const servicesWith = (local: Pick<MinionServices, 'files' | 'sync'>): MinionServices =>
  new Proxy(remoteServices, {
    get: (_, name) => Reflect.get(Object.hasOwn(local, name) ? local : remoteServices, name),
  })

function call(method: string, args: readonly unknown[]): Promise<unknown> {
  const answer = ask((call) => ({ type: 'call', call, method, args: encodeLocal(args) }))
  // A job does not fail because an event can no longer be forwarded.
  return method.startsWith('fire') ? answer.catch(() => false) : answer
}

/** Let the minion process download a file. Resolves with false if it leaves that to this process. */
const delegateDownload: FileClientSettings['delegate'] = async (file, wanted, { fd }) => {
  try {
    return (await ask((call) => ({ type: 'download', call, file, wanted, into: fd }))) === true
  } catch (error) {
    throw SaltError.is(error) && error.code === 'MASTER_UNREACHABLE' ? unanswered(error) : error
  }
}

/** Send a message with a number to the minion process, and resolve with what it answers. */
function ask(message: (call: number) => FromJobProcess): Promise<unknown> {
  const answer = deferred<unknown>()
  if (process.connected) {
    waiting.set(++calls, answer)
    answer.promise.catch(() => {}) // no unhandled rejection if the caller does not await it
    send(message(calls))
  } else answer.reject(minionGone())
  return answer.promise
}

/** Whether a function of a job has closed the connection to the minion. */
let isCutOff = false
const disconnect = process.disconnect?.bind(process)
process.disconnect = () => {
  if (!isCalledByNode(new Error().stack)) isCutOff = true
  disconnect?.()
}

/** Whether the caller of `process.disconnect` is Node, which calls it at the end of the channel. */
const isCalledByNode = (stack = ''): boolean =>
  stack.split('\n')[2]?.includes('node:internal/child_process') === true

const minionGone = () =>
  new SaltError(
    'MASTER_UNREACHABLE',
    isCutOff
      ? 'A function of this job has closed the connection of its process to the minion (process.disconnect), so it cannot use services of the minion.'
      : 'The minion that started this job has ended.',
  )

/** Time that a job has to end after SIGTERM. */
const GRACE_MS = 1000

let settings: RunnerSettings | undefined
/** The job that runs. `abort` is aborted when it must end. */
let running: { readonly jid: string; readonly abort: AbortController } | undefined
let ending: NodeJS.Timeout | undefined
/** Called with true once the minion has persisted the return, with false if the minion ended before. */
let kept: ((kept: boolean) => void) | undefined

async function start(given: JobProcessStart): Promise<void> {
  const { id, config, grains, pillar, loadMs, blocked } = given
  const known = { grains: record(grains), pillar: record(pillar) }
  const loading = {
    config,
    ...known,
    log,
    timeoutMs: loadMs,
    onOverride: () => {}, // the minion process has logged it for all its processes
    ...watchedBy(send, blocked),
  }
  const loader = openLoader('modules', loading)
  const match = await openMatch({
    config,
    id,
    ...known,
    log,
    datastore: new Datastore((config as MinionConfig).cachedir),
  })
  const fileServices = createFileServices({
    config: config as MinionConfig,
    grains: known.grains,
    log,
    request: (load) => remoteServices.request(load),
    delegate: delegateDownload,
    refreshModules: () => remoteServices.refreshModules(),
    refreshGrains: () => remoteServices.refreshGrains(),
  })
  const executors = new Executors({ ...loading, ofJobs: true })
  settings = { id, config, ...known, loader, executors, services: servicesWith(fileServices), match, log }
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
  setProcessTitle(job.jid)
  const onShown = async (shown: JobLoad) => {
    known = shown
    send({ type: 'shown', job: encodeLocal(shown) })
  }
  const run = executeJob.bind(undefined, job, { ...settings, onShown }, abort.signal, words)
  const tracer = await jobTracer()
  const traced = () =>
    traceRun(tracer, job, id, run).catch((error: unknown) => {
      log.error(`Job ${job.jid} could not be run: ${traceOf(error)}`)
      return failed('The job could not be run; see the log of the minion for the reason.')
    })
  const given = await runGuarded(traced, { abort, log, alone: true, failed })
  running = undefined
  clearTimeout(ending)
  const { ret, bytes, wasTooLarge } = sendable(given)
  const returned = { jid: job.jid, ret, job: { ...job, arg: ret.fun_args }, master }
  const isLarge = bytes.length >= LARGE_RETURN_BYTES
  const spooled = isLarge ? await spoolLarge(returned, settings) : undefined
  const last = isLarge || wasTooLarge || abort.signal.aborted // ending the process releases the memory of a large return
  const returnMessage = spooled ? { ret: encodeLocal({ ...ret, return: null }), spooled } : { ret: bytes }
  if (!(await handOver({ ...returnMessage, last })) && !spooled) await spoolForNextRun(returned, settings)
  setProcessTitle()
  if (last || !process.connected) await leave()
}

/** Encode a return. If it is larger than a master would accept, replace its value by the reason. */
function sendable(given: ReturnLoad) {
  const bytes = encodeLocal(given)
  if (bytes.length <= MAX_RETURN_BYTES) return { ret: given, bytes, wasTooLarge: false }
  const ret = withoutValue(given, tooLargeText('The return', bytes.length, MAX_RETURN_BYTES))
  return { ret, bytes: encodeLocal(ret), wasTooLarge: true }
}

/** Exit after the last spans of the jobs were sent. */
async function leave(): Promise<never> {
  if (isTraced()) await (await jobTracer())?.flush()
  process.exit(0)
}

/** Answer a question about modules. Questions come while no job runs. On failure no answer is sent; the minion has a timeout. */
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

/** Send the return to the minion. Resolves with true when it is on disk there, with false if the minion ended before. */
async function handOver(
  returnMessage: Omit<Extract<FromJobProcess, { type: 'return' }>, 'type'>,
): Promise<boolean> {
  const answer = deferred<boolean>()
  kept = answer.resolve
  if (process.connected) send({ type: 'return', ...returnMessage })
  else answer.resolve(false)
  return answer.promise.finally(() => {
    kept = undefined
  })
}

function onMessage(message: ToJobProcess): void {
  if (message.type === 'start') void start(message)
  else if (message.type === 'job') void work(message)
  else if (message.type === 'kept') kept?.(true)
  else if (message.type === 'check') void answer((settings) => check(message.calls, settings))
  else if (message.type === 'describe')
    void answer(async ({ loader }) => JSON.stringify(await loader.describe(message.imports)))
  else {
    const call = waiting.get(message.call)
    waiting.delete(message.call)
    if (message.type === 'answer') call?.resolve(decode(message.value))
    else if (message.type === 'failure') call?.reject(new Error(message.message))
    else if (typeof message.result === 'boolean') call?.resolve(message.result)
    else call?.reject(errorOf(message.result))
  }
}

function errorOf({ message, data, ...system }: DownloadFailure): Error {
  if (data) return new SaltError(system.code as ErrorCode, message, data)
  return Object.assign(new Error(message), system)
}

function endWithoutMinion(): void {
  for (const answer of waiting.values()) answer.reject(minionGone())
  if (kept) kept(false)
  else if (!running) void leave()
}

process.on('SIGTERM', () => {
  if (running) {
    running.abort.abort(new SaltError('CANCELLED', `Job ${running.jid} was ended by SIGTERM.`))
    ending ??= setTimeout(endBySignal, GRACE_MS)
  } else if (!kept) void leave()
})

/** SIGINT aborts a job that is to be killed. If it does not end in time, its process gets SIGKILL. */
process.on('SIGINT', () => {
  running?.abort.abort(new SaltError('CANCELLED', `Job ${running.jid} was killed (SIGINT before SIGKILL).`))
})

/** End this process by SIGTERM because its job does not end. The signal shows the minion why. */
function endBySignal(): void {
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
}

surviveUncaughtErrors(log)
delete process.env[PROCESS_TOKEN]
setProcessTitle()
