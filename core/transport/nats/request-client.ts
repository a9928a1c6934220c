import { setTimeout as delay } from 'node:timers/promises'
import { type Msg, type NatsConnection, RequestError, TimeoutError } from '@nats-io/transport-node'
import { deferred } from '../../base/deferred.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { RequestClient, RequestSettings } from '../contract.ts'
import type { Lease } from './connection.ts'
import { lostConnection, masterGone, noMaster, requestCancelled, timedOut, unreachable } from './errors.ts'
import { Assembly, bytesOf, pieceHeaders, pieceSize, readPieceHeaders } from './pieces.ts'
import type { NatsSettings } from './settings.ts'
import { isInInbox, subjectsOf } from './subjects.ts'

/** Maximum number of pending requests of a client. A master refuses more. */
const MAX_PENDING = 32
/** Delay before a request is sent again while no master serves. It doubles up to the maximum. */
const RETRY_MS = 50
const RETRY_MAX_MS = 1_000

/** A request from its beginning to its end. */
interface Exchange {
  /** Aborts with the error by which the request ends. */
  readonly ended: AbortController
  /** The master that takes it; undefined if any does. */
  readonly to: string | undefined
  /** Time by which it ends, by `performance.now()`. */
  readonly until: number
}

/**
 * Connect a client. A request goes to the named master, or to one of the known masters. While none is known, NATS chooses one.
 */
export function connectRequests(
  nats: NatsSettings,
  lease: Lease,
  { failFast = false }: RequestSettings,
): RequestClient {
  const subjects = subjectsOf(nats.prefix)
  const places = new Semaphore(MAX_PENDING)
  const pending = new Set<AbortController>()
  let isClosed = false

  /** Send the first message of an exchange. */
  async function askFirst(
    connection: NatsConnection,
    body: Uint8Array,
    { total, exchange }: { readonly total: number; readonly exchange: Exchange },
  ) {
    const { to, until, ended } = exchange
    const options = body.length < total ? pieceHeaders({ length: total }) : {}
    let master = to ?? lease.roster.choose()
    for (let wait = RETRY_MS; ; wait = Math.min(2 * wait, RETRY_MAX_MS)) {
      ended.signal.throwIfAborted()
      const subject = master === undefined ? subjects.requests : subjects.requestsTo(master)
      try {
        return await connection.request(subject, body, { timeout: leftUntil(until), ...options })
      } catch (error) {
        if (!(error instanceof RequestError && error.isNoResponders())) throw error
        if (master !== undefined) lease.roster.remove(master)
        if (to !== undefined) throw masterGone(nats, to)
        if (master !== undefined) {
          master = undefined
          continue
        }
        if (failFast) throw noMaster(nats)
        await delay(Math.min(wait, leftUntil(until)), undefined, { signal: ended.signal })
      }
    }
  }

  async function run(frame: Uint8Array, exchange: Exchange): Promise<Buffer> {
    const connection = await connected(exchange.ended.signal)
    const size = pieceSize(connection)
    const askNext = (answer: Msg, body?: Uint8Array) => {
      const { next } = readPieceHeaders(answer.headers)
      exchange.ended.signal.throwIfAborted()
      if (!isInInbox(next, subjects)) throw lostConnection(nats)
      return connection.request(next, body, { timeout: leftUntil(exchange.until) })
    }
    let answer = await askFirst(connection, frame.subarray(0, size), { total: frame.length, exchange })
    for (let at = size; at < frame.length; at += size)
      answer = await askNext(answer, frame.subarray(at, at + size))
    const { length } = readPieceHeaders(answer.headers)
    if (length === undefined) return bytesOf(answer)
    const assembly = new Assembly(length)
    while (assembly.add(bytesOf(answer))) {
      if (assembly.whole) return assembly.whole
      answer = await askNext(answer)
    }
    throw lostConnection(nats)
  }

  /** Wait until NATS is connected: messages sent before that would be lost. */
  async function connected(signal: AbortSignal): Promise<NatsConnection> {
    if (!lease.state.isUp) {
      const up = deferred<void>()
      const stop = lease.state.listen((state) => state === 'up' && up.resolve())
      await Promise.race([up.promise, aborted(signal)]).finally(stop)
    }
    return lease.ready
  }

  async function inTurn(frame: Uint8Array, exchange: Exchange): Promise<Buffer> {
    const leave = await places.take(exchange.ended.signal)
    return run(frame, exchange).finally(leave)
  }

  async function request(frame: Uint8Array, timeoutMs: number, to?: string): Promise<Uint8Array> {
    if (isClosed) throw requestCancelled(nats)
    const ended = new AbortController()
    const late = () => timedOut(nats, timeoutMs, lease.state.isUp ? undefined : lease.problem)
    const timer = setTimeout(() => ended.abort(late()), timeoutMs)
    const forget = [
      lease.state.listen((state) => state === 'down' && ended.abort(lostConnection(nats))),
      lease.roster.onGone((gone) => to !== undefined && gone.has(to) && ended.abort(lostConnection(nats))),
    ]
    // Only while there is no connection: the promise stays pending as long as there is one, and would keep every request.
    if (failFast && !lease.state.isUp)
      void lease.failure.then((problem) => ended.abort(unreachable(nats, problem)))
    pending.add(ended)
    try {
      const work = inTurn(frame, { ended, to, until: performance.now() + timeoutMs })
      work.catch(() => undefined)
      return await Promise.race([work, aborted(ended.signal)])
    } catch (error) {
      if (error instanceof TimeoutError) throw late()
      throw error instanceof RequestError ? lostConnection(nats) : error
    } finally {
      clearTimeout(timer)
      for (const end of forget) end()
      pending.delete(ended)
    }
  }

  return {
    request,
    choose: (wanted) => lease.roster.choose(wanted),
    async close() {
      isClosed = true
      for (const ended of pending) ended.abort(requestCancelled(nats))
      await lease.release()
    },
  }
}

const leftUntil = (time: number): number => Math.max(1, time - performance.now())

/** Rejects with the reason of a signal when that aborts. */
const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
