/**
 * Entry of a job process: runs one job at a time, in a process group of its own, so that it can be killed with
 * everything it started, and so that a crash is a return and not the end of the minion.
 */
import type { Log, MinionServices } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import { openLoader } from '../loader/index.ts'
import { openMatch } from '../targets/open-match.ts'
import { readJobLoad } from '../wire/publication.ts'
import type { ReturnLoad } from '../wire/return.ts'
import { type RunnerSettings, runJob } from './job-runner.ts'
import { type FromJobProcess, type JobProcessStart, logLevels, type ToJobProcess } from './messages.ts'
import { spoolDirectory } from './paths.ts'

const record = (bytes: Uint8Array) => decode(bytes) as Record<string, unknown>

function send(message: FromJobProcess): void {
  if (process.connected) process.send?.(message)
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
const services = new Proxy({} as MinionServices, {
  get: (_, method) =>
    typeof method === 'string'
      ? (...args: unknown[]) => {
          const answer = deferred<unknown>()
          waiting.set(++calls, answer)
          send({ type: 'call', call: calls, method, args: encodeLocal(args) })
          return answer.promise
        }
      : undefined,
})

let settings: RunnerSettings | undefined
let abort = new AbortController()
let busy = false

async function start({ id, config, grains, pillar }: JobProcessStart): Promise<void> {
  const known = { grains: record(grains), pillar: record(pillar) }
  const loader = openLoader('modules', { config, grains: known.grains, log })
  const match = await openMatch({ config, id, ...known, log })
  settings = { id, config, ...known, loader, services, match, log }
  send({ type: 'ready' })
}

async function work(bytes: Uint8Array): Promise<void> {
  const job = readJobLoad(record(bytes))
  if (!settings || !job) return
  busy = true
  abort = new AbortController()
  const ret = await runJob(job, settings, abort.signal)
  busy = false
  if (process.connected) send({ type: 'return', ret: encodeLocal(ret) })
  else await leaveInSpool(ret, settings)
}

/** The minion died while this job ran: its return is kept for the minion's next life. */
async function leaveInSpool(ret: ReturnLoad, { config }: RunnerSettings): Promise<void> {
  const spool = ReturnSpool.open(spoolDirectory(config))
  await spool.add({ jid: ret.jid, ret })
  await spool.close()
  process.exit(0)
}

process.on('message', (message: ToJobProcess) => {
  if (message.type === 'start') void start(message)
  else if (message.type === 'job') void work(message.job)
  else if (message.type === 'abort') abort.abort(new Error(message.reason))
  else {
    const answer = waiting.get(message.call)
    waiting.delete(message.call)
    if (message.type === 'answer') answer?.resolve(decode(message.value))
    else answer?.reject(new Error(message.message))
  }
})

process.on('disconnect', () => {
  if (!busy) process.exit(0)
})

process.on('SIGTERM', () => {
  abort.abort(new Error('The job was terminated.'))
  setTimeout(() => process.exit(143), 1000).unref()
})

process.on('unhandledRejection', (error) =>
  log.error(`A promise of a job was rejected unseen: ${messageOf(error)}`),
)
