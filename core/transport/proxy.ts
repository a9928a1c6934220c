import { setTimeout } from 'node:timers/promises'
import type { Router } from 'zeromq'
import type { ProcessWork } from '../process/silence.ts'
import type { RequestPort } from './contract.ts'
import { TurnBatch } from './proxy/batch.ts'
import { Dispatcher } from './proxy/dispatcher.ts'
import { ANSWERS, LEAVING, PROBE, READY, REQUESTS, readNumbered } from './proxy/messages.ts'
import { bindLocal } from './zeromq/bind-local.ts'
import { SendQueue } from './zeromq/send-queue.ts'
import { openRouter } from './zeromq/sockets.ts'

export { openWorker } from './proxy/worker.ts'

/** Interval at which workers that have requests are probed. */
const PROBE_MS = 200
const STUCK_MS = 800
const MAX_OUTSTANDING = 10_000
const MAX_OUTSTANDING_BYTES = 512 * 1024 * 1024
/** How long pending requests may take to finish on close. */
const DRAIN_MS = 2_000

export interface ProxySettings {
  /** The ports of the clients. The proxy closes them. */
  readonly fronts: readonly RequestPort[]
  /** Path of the socket for the workers (Salt's `workers.ipc`), or `tcp://127.0.0.1:port`. */
  readonly backend: string
  /** How long a worker may be idle and leave probes unanswered before it counts as stuck, in milliseconds. */
  readonly stuckMs?: number
  /** What a worker's process does; a busy one that answers no probes gets more time. */
  workOf?(worker: string): ProcessWork
  /** Maximum number of outstanding requests. */
  readonly maxOutstanding?: number
  /** The reply to requests that exceed the limits, or with which two workers were lost. */
  readonly refusal: Uint8Array
}

/** Distributes the requests of its ports over worker processes (wire protocol §4). */
export interface WorkerProxy {
  readonly workers: ReadonlyMap<string, { readonly outstanding: number }>
  /** Number of requests not yet assigned to a worker. */
  readonly waiting: number
  /** Number of requests refused since the proxy was opened. */
  readonly refused: number
  /** Add a listener for stuck workers. A stuck worker's requests are reassigned; end its process and start another. */
  onStuck(listener: (worker: string) => void): void
  /** Report that a worker's process ended; its requests are reassigned at once. */
  workerGone(name: string): void
  close(): Promise<void>
}

/**
 * Open a ROUTER for the workers. ZeroMQ's own proxy is not used: it distributes round-robin, also to
 * workers that hang, and loses their requests.
 */
export async function openProxy(settings: ProxySettings): Promise<WorkerProxy> {
  const { fronts } = settings
  const closeFronts = () => Promise.all(fronts.map((front) => front.close()))
  const back = openRouter({ sendHighWaterMark: 0, receiveHighWaterMark: 0, linger: 0, handover: true })
  await bindLocal(back, settings.backend).catch(async (error) => {
    await closeFronts()
    throw error
  })
  const stuckListeners: ((worker: string) => void)[] = []
  const orders = new SendQueue(back)
  const order = (worker: string, ...frames: (string | Uint8Array)[]) =>
    orders.send([worker, ...frames]).catch(() => undefined)
  const requests = new Map<string, TurnBatch>()
  const requestsTo = (worker: string): TurnBatch => {
    const batch = requests.get(worker) ?? new TurnBatch((frames) => order(worker, REQUESTS, ...frames))
    requests.set(worker, batch)
    return batch
  }
  const dispatcher = new Dispatcher({
    stuckMs: settings.stuckMs ?? STUCK_MS,
    ...(settings.workOf && { workOf: settings.workOf }),
    maxOutstanding: settings.maxOutstanding ?? MAX_OUTSTANDING,
    maxBytes: MAX_OUTSTANDING_BYTES,
    refusal: settings.refusal,
    now: () => performance.now(),
    toWorker: (worker, id, payload) => requestsTo(worker).add({ id, payload }),
    onStuck: (worker) => {
      for (const listener of stuckListeners) listener(worker)
    },
  })
  const probing = setInterval(() => {
    dispatcher.check(PROBE_MS)
    for (const worker of dispatcher.busy()) void order(worker, PROBE)
  }, PROBE_MS)
  for (const front of fronts) front.receive((request) => dispatcher.request(request))
  void readWorkers(back, dispatcher, async (worker) => {
    await requestsTo(worker).flush()
    await order(worker, LEAVING)
  })
  return {
    workers: dispatcher.workers,
    get waiting() {
      return dispatcher.waiting
    },
    get refused() {
      return dispatcher.refused
    },
    onStuck: (listener) => void stuckListeners.push(listener),
    workerGone: (name) => dispatcher.gone(name),
    async close() {
      await drain(dispatcher, DRAIN_MS)
      clearInterval(probing)
      await closeFronts()
      back.close()
    },
  }
}

async function readWorkers(
  back: Router,
  dispatcher: Dispatcher,
  confirmLeaving: (worker: string) => Promise<void>,
): Promise<void> {
  for await (const [identity, frame, first, second] of back) {
    const worker = String(identity)
    const header = String(frame)
    if (header === ANSWERS)
      for (const { id, payload } of readNumbered(first, second)) dispatcher.answer(worker, id, payload)
    else if (header === READY) dispatcher.ready(worker, String(first))
    else if (header === PROBE) dispatcher.alive(worker)
    else if (header === LEAVING) {
      dispatcher.leaving(worker)
      void confirmLeaving(worker)
    }
  }
}

async function drain(dispatcher: Dispatcher, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (dispatcher.outstanding > 0 && dispatcher.workers.size > 0 && performance.now() < deadline) {
    await setTimeout(10)
  }
}
