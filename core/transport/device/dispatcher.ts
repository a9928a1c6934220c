/** More at once do not make a worker faster, and would all have to be done again when it is lost. */
const MAX_PER_WORKER = 256
/** A silent worker that works gets so many times as long, and time for what it holds: a large return takes seconds. */
const BUSY_FACTOR = 4
const BYTES_PER_MS = 4_000
/** A request that was with so many workers when they were lost is not given to another one. */
const MAX_COST = 2

/** Requests of one client at once; Salt's clients ask one thing at a time on each connection. */
const MAX_PER_CLIENT = 32

/** A request on its way through the device; kept until it is answered. */
interface Pending {
  readonly id: number
  /** The way back to the client. */
  readonly path: readonly Buffer[]
  readonly payload: Buffer
  /** Who works on it now. */
  worker: Worker | undefined
  /** How many workers were lost while they worked on it. */
  cost: number
}

/** What the device knows of a worker. */
class Worker {
  readonly name: string
  readonly instance: string
  readonly held = new Set<Pending>()
  lastSeen: number
  /** Gets no more requests: it does not answer probes, or said goodbye. */
  out = false
  /** It works on a request that has cost a worker before. */
  suspect: Pending | undefined

  constructor(name: string, instance: string, now: number) {
    this.name = name
    this.instance = instance
    this.lastSeen = now
  }

  get outstanding(): number {
    return this.held.size
  }
}

/** Who is to get the next request: the one with the fewest, and best one that is not at risk. */
const load = ({ held, suspect }: Worker) => held.size + (suspect ? MAX_PER_WORKER : 0)

const clientOf = ([identity]: readonly Buffer[]): string => identity?.toString('latin1') ?? ''

export interface DispatcherSettings {
  /** A worker not heard of for so long is stuck. Milliseconds. */
  readonly stuckMs: number
  /** Requests kept at most, in number and in bytes; others get the refusal. */
  readonly maxOutstanding: number
  readonly maxBytes: number
  readonly refusal: Uint8Array
  now(): number
  toWorker(worker: string, id: number, payload: Buffer): void
  toClient(path: readonly Buffer[], reply: Uint8Array): void
  onStuck(worker: string): void
  /** Whether the process of a silent worker is at work, as far as that can be known, rather than stopped or dead-locked. */
  isWorking?(worker: string): boolean
}

/**
 * Who works on what. Requests go to the worker with the fewest, come back when a worker is lost, and are answered
 * once. A request that was there when a worker was lost is suspected: a worker gets one such at a time, so that the
 * one that kills workers is found out and refused, and those that merely stood beside it are not.
 */
export class Dispatcher {
  readonly #settings: DispatcherSettings
  readonly #workers = new Map<string, Worker>()
  readonly #pending = new Map<number, Pending>()
  /** How many of them each client has. */
  readonly #clients = new Map<string, number>()
  #suspects: Pending[] = []
  #fresh: Pending[] = []
  #bytes = 0
  #nextId = 1
  #lastCheck: number
  /** Requests that were answered with the refusal. */
  refused = 0

  constructor(settings: DispatcherSettings) {
    this.#settings = settings
    this.#lastCheck = settings.now()
  }

  get workers(): ReadonlyMap<string, { readonly outstanding: number }> {
    return this.#workers
  }

  get outstanding(): number {
    return this.#pending.size
  }

  /** Requests that no worker has. */
  get waiting(): number {
    const held = [...this.#workers.values()].reduce((sum, { outstanding }) => sum + outstanding, 0)
    return this.#pending.size - held
  }

  /** A request has come. */
  request(path: readonly Buffer[], payload: Buffer): void {
    const { maxOutstanding, maxBytes, refusal, toClient } = this.#settings
    const client = clientOf(path)
    const ofClient = this.#clients.get(client) ?? 0
    const isFull = this.#pending.size >= maxOutstanding || this.#bytes + payload.length > maxBytes
    if (isFull || ofClient >= MAX_PER_CLIENT) {
      this.refused++
      toClient(path, refusal)
      return
    }
    const request: Pending = { id: this.#nextId++, path, payload, worker: undefined, cost: 0 }
    this.#pending.set(request.id, request)
    this.#clients.set(client, ofClient + 1)
    this.#bytes += payload.length
    const worker = this.#fresh.length === 0 ? this.#chooseWorker(request) : undefined
    if (worker) this.#give(request, worker)
    else this.#fresh.push(request)
  }

  /** A worker has answered, perhaps one that was given up; the first answer counts. */
  answer(workerName: string, id: number, reply: Uint8Array): void {
    this.alive(workerName)
    const request = this.#pending.get(id)
    if (!request) return
    this.#settings.toClient(request.path, reply)
    this.#forget(request)
    this.#dispatch()
  }

  /** A worker offers itself; `instance` tells a new process from the old one of that name. */
  ready(workerName: string, instance = ''): void {
    const known = this.#workers.get(workerName)
    if (known?.instance === instance) this.alive(workerName)
    else this.#add(new Worker(workerName, instance, this.#settings.now()))
  }

  alive(workerName: string): void {
    const worker = this.#workers.get(workerName)
    if (worker) worker.lastSeen = this.#settings.now()
  }

  /** A worker wants no more requests; it answers those it has. */
  leaving(workerName: string): void {
    const worker = this.#workers.get(workerName)
    if (worker) worker.out = true
  }

  /** A worker's process has ended. */
  gone(workerName: string): void {
    const worker = this.#workers.get(workerName)
    if (!worker) return
    this.#workers.delete(workerName)
    this.#takeBack(worker)
  }

  /** Look for stuck workers; called regularly, at most `everyMs` apart. */
  check(everyMs: number): void {
    const { now, stuckMs, onStuck } = this.#settings
    const time = now()
    const sleptItself = time - this.#lastCheck > 2 * everyMs
    this.#lastCheck = time
    for (const worker of this.#workers.values()) {
      if (sleptItself) worker.lastSeen = time
      const silent = time - worker.lastSeen
      if (worker.out || silent < stuckMs || silent < this.#patience(worker)) continue
      worker.out = true
      this.#takeBack(worker)
      onStuck(worker.name)
    }
  }

  #patience({ name, held }: Worker): number {
    const { stuckMs, isWorking } = this.#settings
    if (!isWorking?.(name)) return stuckMs
    const bytes = [...held].reduce((sum, { payload }) => sum + payload.length, 0)
    return BUSY_FACTOR * stuckMs + bytes / BYTES_PER_MS
  }

  #add(worker: Worker): void {
    this.gone(worker.name)
    this.#workers.set(worker.name, worker)
    this.#dispatch()
  }

  #dispatch(): void {
    this.#suspects = this.#giveWhilePossible(this.#suspects)
    this.#fresh = this.#giveWhilePossible(this.#fresh)
  }

  /** Gives requests to workers until none is free. Gives those that are left. */
  #giveWhilePossible(queue: Pending[]): Pending[] {
    let taken = 0
    for (const request of queue) {
      if (this.#pending.has(request.id)) {
        const worker = this.#chooseWorker(request)
        if (!worker) break
        this.#give(request, worker)
      }
      taken++
    }
    return taken === 0 ? queue : queue.slice(taken)
  }

  #chooseWorker(request: Pending): Worker | undefined {
    let best: Worker | undefined
    for (const worker of this.#workers.values()) {
      if (worker.out || worker.held.size >= MAX_PER_WORKER) continue
      if (request.cost > 0 && worker.suspect) continue
      if (!best || load(worker) < load(best)) best = worker
    }
    return best
  }

  #give(request: Pending, worker: Worker): void {
    request.worker = worker
    worker.held.add(request)
    if (request.cost > 0) worker.suspect = request
    this.#settings.toWorker(worker.name, request.id, request.payload)
  }

  #takeBack(worker: Worker): void {
    for (const request of worker.held) {
      request.worker = undefined
      request.cost++
      if (request.cost < MAX_COST) this.#suspects.push(request)
      else this.#refuse(request)
    }
    worker.held.clear()
    worker.suspect = undefined
    this.#dispatch()
  }

  #refuse(request: Pending): void {
    this.refused++
    this.#settings.toClient(request.path, this.#settings.refusal)
    this.#forget(request)
  }

  #forget(request: Pending): void {
    this.#pending.delete(request.id)
    this.#bytes -= request.payload.length
    const client = clientOf(request.path)
    const left = (this.#clients.get(client) ?? 1) - 1
    if (left > 0) this.#clients.set(client, left)
    else this.#clients.delete(client)
    const { worker } = request
    worker?.held.delete(request)
    if (worker?.suspect === request) worker.suspect = undefined
  }
}
