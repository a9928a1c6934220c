import { setTimeout } from 'node:timers/promises'
import type { Router } from 'zeromq'
import type { ServerSettings } from './contract.ts'
import { Dispatcher } from './device/dispatcher.ts'
import { LEAVING, PROBE, readHeader, requestHeader } from './device/messages.ts'
import { admitConnections } from './zeromq/admission.ts'
import { bindTcp } from './zeromq/bind.ts'
import { bindLocal } from './zeromq/bind-local.ts'
import { readRouted } from './zeromq/routed.ts'
import { SendQueue } from './zeromq/send-queue.ts'
import { serverOptions } from './zeromq/settings.ts'
import { openRouter } from './zeromq/sockets.ts'

export { openWorker } from './device/worker.ts'

/** Workers are probed this often. Milliseconds. */
const PROBE_MS = 200
const STUCK_MS = 800
const MAX_OUTSTANDING = 10_000
const MAX_BYTES = 512 * 1024 * 1024
/**
 * Requests of one client that wait to be read here; more wait with the client. And answers that wait for one client to
 * read them; it gets no more then. Salt's clients ask one thing at a time on each connection.
 */
const MAX_QUEUED = 64
const LINGER_MS = 1_000
/** At the end, requests under way get this long to be answered. Milliseconds. */
const DRAIN_MS = 2_000

export interface DeviceSettings {
  readonly front: ServerSettings
  /** Path of the socket for the workers (Salt's `workers.ipc`), or `tcp://127.0.0.1:port`. */
  readonly backend: string
  /** A worker that answers no probe for so long is stuck. Milliseconds. */
  readonly stuckMs?: number
  /** Whether the process of a worker is at work; one that is and answers no probes is given more time. */
  isWorking?(worker: string): boolean
  /** Requests that are kept at most. */
  readonly maxOutstanding?: number
  /** The answer to a request when there is no room for it, or when it has cost two workers. */
  readonly refusal: Uint8Array
}

/** Spreads the requests of one port over worker processes (wire protocol §4). */
export interface WorkerDevice {
  readonly port: number
  readonly workers: ReadonlyMap<string, { readonly outstanding: number }>
  /** Requests that no worker has yet. */
  readonly waiting: number
  /** Requests that were refused since it was opened. */
  readonly refused: number
  /** A worker answers no probes any more. Its requests were given to others; end its process and start another. */
  onStuck(listener: (worker: string) => void): void
  /** The process of a worker has ended: its requests are given to others at once. */
  workerGone(name: string): void
  close(): Promise<void>
}

/**
 * A ROUTER for clients and a ROUTER for workers, instead of ZeroMQ's proxy: a proxy hands requests out in turn, also
 * to a worker that hangs, and forgets them.
 */
export async function openDevice(settings: DeviceSettings): Promise<WorkerDevice> {
  const front = openRouter({
    ...serverOptions(settings.front),
    linger: LINGER_MS,
    sendHighWaterMark: MAX_QUEUED,
    receiveHighWaterMark: MAX_QUEUED,
  })
  const port = await bindTcp(front, settings.front) // first: its error names who holds the port
  const back = openRouter({ sendHighWaterMark: 0, receiveHighWaterMark: 0, linger: 0, handover: true })
  await bindLocal(back, settings.backend).catch((error) => {
    front.close()
    throw error
  })
  const admission = admitConnections({ ...settings.front, port })
  const stuckListeners: ((worker: string) => void)[] = []
  const replies = new SendQueue(front)
  const orders = new SendQueue(back)
  const order = (worker: string, ...frames: (string | Buffer)[]) =>
    void orders.send([worker, ...frames]).catch(() => undefined)
  const dispatcher = new Dispatcher({
    stuckMs: settings.stuckMs ?? STUCK_MS,
    ...(settings.isWorking && { isWorking: settings.isWorking }),
    maxOutstanding: settings.maxOutstanding ?? MAX_OUTSTANDING,
    maxBytes: MAX_BYTES,
    refusal: settings.refusal,
    now: () => performance.now(),
    toWorker: (worker, id, payload) => order(worker, requestHeader(id), payload),
    toClient: (path, reply) => void replies.send([...path, reply]).catch(() => undefined),
    onStuck: (worker) => {
      for (const listener of stuckListeners) listener(worker)
    },
  })
  const probing = setInterval(() => {
    dispatcher.check(PROBE_MS)
    for (const worker of dispatcher.workers.keys()) order(worker, PROBE)
  }, PROBE_MS)
  void readRequests(front, dispatcher)
  void readWorkers(back, dispatcher, (worker) => order(worker, LEAVING))
  return {
    port,
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
      admission.close()
      front.close()
      back.close()
    },
  }
}

async function readRequests(front: Router, dispatcher: Dispatcher): Promise<void> {
  for await (const frames of front) {
    const request = readRouted(frames)
    if (request) dispatcher.request(request.path, request.payload)
  }
}

async function readWorkers(
  back: Router,
  dispatcher: Dispatcher,
  confirmLeaving: (worker: string) => void,
): Promise<void> {
  for await (const [identity, frame, payload] of back) {
    const worker = String(identity)
    const header = readHeader(frame)
    if (header.kind === 'answer' && payload) dispatcher.answer(worker, header.id, payload)
    else if (header.kind === 'ready') dispatcher.ready(worker, String(payload))
    else if (header.kind === 'probe') dispatcher.alive(worker)
    else if (header.kind === 'leaving') {
      dispatcher.leaving(worker)
      confirmLeaving(worker)
    }
  }
}

async function drain(dispatcher: Dispatcher, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (dispatcher.outstanding > 0 && dispatcher.workers.size > 0 && performance.now() < deadline) {
    await setTimeout(10)
  }
}
