import { type ProcessWork, Silence, UNKNOWN_WORK } from '../../process/silence.ts'
import type { IncomingRequest } from '../contract.ts'

/** Maximum number of requests that one worker handles at once. More would not be faster, and all are repeated if the worker is lost. */
const MAX_PER_WORKER = 256
/** Requests above this size, mostly returns, are limited in bytes, too. */
const LARGE_BYTES = 16 * 1024
/**
 * Maximum size of the large requests that one worker handles at once, if they are more than one. The others wait here, where each is
 * in memory once: a worker has several copies, and what it frees late stays with its process.
 */
const MAX_LARGE_PER_WORKER = 2 ** 20
/**
 * A silent worker may use this many times as much processor time as it may be idle, plus time for the bytes of its requests: a
 * large return takes seconds.
 */
const BUSY_FACTOR = 4
const BYTES_PER_MS = 4_000
/** A request is refused after this many workers were lost while they had it. */
const MAX_WORKERS_LOST = 2

/** Requests of one client at once; Salt's clients send one at a time on each connection. */
const MAX_PER_CLIENT = 32

/** A request in the proxy, kept until it is answered. */
interface Pending {
  readonly id: number
  readonly request: IncomingRequest
  /** The worker that it is assigned to. */
  worker: Worker | undefined
  /** Number of workers that were lost while they had it. */
  workersLost: number
}

/** The proxy's view of a worker. */
class Worker {
  readonly name: string
  readonly instance: string
  readonly held = new Set<Pending>()
  /** Size of the large requests it has. */
  #large = 0
  lastSeen = 0
  /** Its silence since it was last seen. */
  silence: Silence | undefined
  /** Receives no more requests: it is stuck, or announced that it is leaving. */
  retired = false
  /** A request it has, with which another worker was lost before. */
  suspect: Pending | undefined

  constructor(name: string, instance: string, now: number) {
    this.name = name
    this.instance = instance
    this.seen(now)
  }

  seen(now: number): void {
    this.lastSeen = now
    this.silence = undefined
  }

  get outstanding(): number {
    return this.held.size
  }

  /**
   * Whether the worker may receive a request. There is always room for a suspect, of which a worker has one at a time, since new
   * large requests could make it wait forever.
   */
  hasRoomFor(pending: Pending): boolean {
    const large = pending.workersLost > 0 ? 0 : largeBytes(pending)
    const isTooLarge = large > 0 && this.#large > 0 && this.#large + large > MAX_LARGE_PER_WORKER
    return this.held.size < MAX_PER_WORKER && !isTooLarge
  }

  take(pending: Pending): void {
    this.held.add(pending)
    this.#large += largeBytes(pending)
  }

  release(pending: Pending): void {
    if (this.held.delete(pending)) this.#large -= largeBytes(pending)
    if (this.suspect === pending) this.suspect = undefined
  }
}

/** Return the size of a request if it is large, otherwise 0. */
function largeBytes({ request: { payload } }: Pending): number {
  return payload.length > LARGE_BYTES ? payload.length : 0
}

/** Rank of a worker: the one with the lowest receives the next request; one with a suspect comes last. */
const load = ({ held, suspect }: Worker) => held.size + (suspect ? MAX_PER_WORKER : 0)

export interface DispatcherSettings {
  /** How long a worker may be silent and idle before it counts as stuck, in milliseconds. */
  readonly stuckMs: number
  /** Limits of outstanding requests, in number and in bytes; requests beyond are refused. */
  readonly maxOutstanding: number
  readonly maxBytes: number
  readonly refusal: Uint8Array
  now(): number
  toWorker(worker: string, id: number, payload: Buffer): void
  onStuck(worker: string): void
  /** What a worker's process does, as far as known. */
  workOf?(worker: string): ProcessWork
}

/**
 * Assigns requests to workers. A request goes to the worker with the fewest, is reassigned if that worker is lost, and is
 * answered once. Requests of a lost worker become suspects, and a worker receives one of them at a time: so the one that
 * kills workers is identified and refused, while the others are answered.
 */
export class Dispatcher {
  readonly #settings: DispatcherSettings
  readonly #workers = new Map<string, Worker>()
  readonly #pending = new Map<number, Pending>()
  /** Number of pending requests by client. */
  readonly #clients = new Map<string, number>()
  #suspects: Pending[] = []
  #large: Pending[] = []
  #small: Pending[] = []
  #bytes = 0
  #nextId = 1
  #lastCheck: number
  /** Number of refused requests. */
  refused = 0

  constructor(settings: DispatcherSettings) {
    this.#settings = settings
    this.#lastCheck = settings.now()
  }

  get workers(): ReadonlyMap<string, { readonly outstanding: number }> {
    return this.#workers
  }

  /** Names of the workers that have requests: only those have to show that they are alive. */
  *busy(): Generator<string> {
    for (const { name, outstanding } of this.#workers.values()) if (outstanding > 0) yield name
  }

  get outstanding(): number {
    return this.#pending.size
  }

  /** Number of requests without a worker. */
  get waiting(): number {
    const held = [...this.#workers.values()].reduce((sum, { outstanding }) => sum + outstanding, 0)
    return this.#pending.size - held
  }

  /** Accept a request from a client. */
  request(request: IncomingRequest): void {
    const { maxOutstanding, maxBytes, refusal } = this.#settings
    const { client, payload } = request
    const ofClient = this.#clients.get(client) ?? 0
    const isFull = this.#pending.size >= maxOutstanding || this.#bytes + payload.length > maxBytes
    if (isFull || ofClient >= MAX_PER_CLIENT) {
      this.refused++
      request.reply(refusal)
      return
    }
    const pending: Pending = { id: this.#nextId++, request, worker: undefined, workersLost: 0 }
    this.#pending.set(pending.id, pending)
    this.#clients.set(client, ofClient + 1)
    this.#bytes += payload.length
    const queue = largeBytes(pending) > 0 ? this.#large : this.#small
    const worker = queue.length === 0 ? this.#chooseWorker(pending) : undefined
    if (worker) this.#give(pending, worker)
    else queue.push(pending)
  }

  /** Forward a worker's answer. The first answer counts, even that of a worker that was considered stuck. */
  answer(workerName: string, id: number, reply: Uint8Array): void {
    this.alive(workerName)
    const pending = this.#pending.get(id)
    if (!pending) return
    pending.request.reply(reply)
    this.#forget(pending)
    this.#dispatch()
  }

  /** Register a worker. `instance` distinguishes a new process from the previous one of that name. */
  ready(workerName: string, instance = ''): void {
    const known = this.#workers.get(workerName)
    if (known?.instance === instance) this.alive(workerName)
    else this.#add(new Worker(workerName, instance, this.#settings.now()))
  }

  alive(workerName: string): void {
    const worker = this.#workers.get(workerName)
    worker?.seen(this.#settings.now())
  }

  /** Stop assigning requests to a worker; it answers those it has. */
  leaving(workerName: string): void {
    const worker = this.#workers.get(workerName)
    if (worker) worker.retired = true
  }

  /** Remove a worker whose process ended. */
  gone(workerName: string): void {
    const worker = this.#workers.get(workerName)
    if (!worker) return
    this.#workers.delete(workerName)
    this.#takeBack(worker)
  }

  /** Find workers that are stuck with requests; call this regularly, at most `everyMs` apart. */
  check(everyMs: number): void {
    const { now, onStuck, workOf } = this.#settings
    const time = now()
    const wasBlocked = time - this.#lastCheck > 2 * everyMs // this process did not run, so silence proves nothing
    this.#lastCheck = time
    for (const worker of this.#workers.values()) {
      const isExpected = worker.outstanding > 0 && !worker.retired
      if (wasBlocked) worker.seen(time)
      if (!isExpected || time - worker.lastSeen < everyMs) continue
      worker.silence ??= new Silence()
      worker.silence.add(everyMs, workOf?.(worker.name) ?? UNKNOWN_WORK)
      if (!this.#isStuck(worker.silence, worker.held)) continue
      worker.retired = true
      this.#takeBack(worker)
      onStuck(worker.name)
    }
  }

  #isStuck(silence: Silence, held: ReadonlySet<Pending>): boolean {
    const { stuckMs } = this.#settings
    if (silence.idleMs >= stuckMs) return true
    const bytes = [...held].reduce((sum, { request }) => sum + request.payload.length, 0)
    return silence.usedMs >= BUSY_FACTOR * stuckMs + bytes / BYTES_PER_MS
  }

  #add(worker: Worker): void {
    this.gone(worker.name)
    this.#workers.set(worker.name, worker)
    this.#dispatch()
  }

  #dispatch(): void {
    this.#suspects = this.#giveWhilePossible(this.#suspects)
    this.#large = this.#giveWhilePossible(this.#large)
    this.#small = this.#giveWhilePossible(this.#small)
  }

  /** Assign requests until no worker is free, and return the remaining ones. */
  #giveWhilePossible(queue: Pending[]): Pending[] {
    let taken = 0
    for (const pending of queue) {
      if (this.#pending.has(pending.id)) {
        const worker = this.#chooseWorker(pending)
        if (!worker) break
        this.#give(pending, worker)
      }
      taken++
    }
    return taken === 0 ? queue : queue.slice(taken)
  }

  #chooseWorker(pending: Pending): Worker | undefined {
    let best: Worker | undefined
    for (const worker of this.#workers.values()) {
      if (worker.retired || !worker.hasRoomFor(pending)) continue
      if (pending.workersLost > 0 && worker.suspect) continue
      if (!best || load(worker) < load(best)) best = worker
    }
    return best
  }

  #give(pending: Pending, worker: Worker): void {
    if (worker.outstanding === 0) worker.seen(this.#settings.now()) // an idle worker is not probed
    pending.worker = worker
    worker.take(pending)
    if (pending.workersLost > 0) worker.suspect = pending
    this.#settings.toWorker(worker.name, pending.id, pending.request.payload)
  }

  #takeBack(worker: Worker): void {
    for (const pending of [...worker.held]) {
      worker.release(pending)
      pending.worker = undefined
      pending.workersLost++
      if (pending.workersLost < MAX_WORKERS_LOST) this.#suspects.push(pending)
      else this.#refuse(pending)
    }
    this.#dispatch()
  }

  #refuse(pending: Pending): void {
    this.refused++
    pending.request.reply(this.#settings.refusal)
    this.#forget(pending)
  }

  #forget(pending: Pending): void {
    const { client, payload } = pending.request
    this.#pending.delete(pending.id)
    this.#bytes -= payload.length
    const left = (this.#clients.get(client) ?? 1) - 1
    if (left > 0) this.#clients.set(client, left)
    else this.#clients.delete(client)
    pending.worker?.release(pending)
  }
}
