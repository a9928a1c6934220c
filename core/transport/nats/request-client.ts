import { setTimeout as delay } from 'node:timers/promises'
import { type Msg, type NatsConnection, RequestError, TimeoutError } from '@nats-io/transport-node'
import { deferred } from '../../base/deferred.ts'
import { Semaphore } from '../../base/semaphore.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { RequestClient, RequestSettings } from '../contract.ts'
import type { Lease } from './connection.ts'
import { lostConnection, noMaster, requestCancelled, timedOut, unreachable } from './errors.ts'
import { Assembly, bytesOf, pieceHeaders, pieceSize, readPieceHeaders } from './pieces.ts'
import type { NatsSettings } from './settings.ts'
import { subjectsOf } from './subjects.ts'

/** Requests of a client at once. A master refuses more. */
const MAX_PENDING = 32
/** Wait before a request is sent again while no master serves; it doubles up to the second. */
const RETRY_MS = 50
const RETRY_MAX_MS = 1_000

/** Connect a client. A request goes to one of the masters. */
export function connectRequests(
  nats: NatsSettings,
  lease: Lease,
  { failFast = false }: RequestSettings,
): RequestClient {
  const subjects = subjectsOf(nats.prefix)
  const places = new Semaphore(MAX_PENDING)
  const cancels = new Set<(error: unknown) => void>()
  let isClosed = false
  const stopListening = lease.state.listen((state) => {
    if (state === 'down') cancelAll(lostConnection(nats))
  })
  function cancelAll(error: unknown): void {
    for (const cancel of cancels) cancel(error)
  }

  /** Send the first request of an exchange to the master of a name or, without one and if that is not there, to any. */
  async function askFirst(
    connection: NatsConnection,
    body: Uint8Array,
    { total, until, to }: { readonly total: number; readonly until: number; readonly to: string | undefined },
  ) {
    const options = body.length < total ? pieceHeaders({ length: total }) : {}
    let subject = to === undefined ? subjects.requests : subjects.requestsTo(to)
    for (let wait = RETRY_MS; ; wait = Math.min(2 * wait, RETRY_MAX_MS)) {
      try {
        return await connection.request(subject, body, { timeout: leftUntil(until), ...options })
      } catch (error) {
        if (!(error instanceof RequestError && error.isNoResponders())) throw error
        if (subject !== subjects.requests) {
          subject = subjects.requests
          continue
        }
        if (failFast) throw noMaster(nats)
        await delay(Math.min(wait, leftUntil(until)))
      }
    }
  }

  async function exchange(frame: Uint8Array, until: number, to: string | undefined): Promise<Buffer> {
    const connection = await lease.ready
    const size = pieceSize(connection)
    const askNext = (answer: Msg, body?: Uint8Array) => {
      const { next } = readPieceHeaders(answer.headers)
      if (next === undefined) throw lostConnection(nats)
      return connection.request(next, body, { timeout: leftUntil(until) })
    }
    let answer = await askFirst(connection, frame.subarray(0, size), { total: frame.length, until, to })
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

  async function inTurn(frame: Uint8Array, until: number, to: string | undefined): Promise<Buffer> {
    const leave = await places.take()
    return exchange(frame, until, to).finally(leave)
  }

  async function request(frame: Uint8Array, timeoutMs: number, to?: string): Promise<Uint8Array> {
    if (isClosed) throw requestCancelled(nats)
    const cancelled = deferred<never>()
    const master = lease.roster.choose(to)
    const forget = lease.roster.onGone((gone) => {
      if (master !== undefined && gone.has(master)) cancelled.reject(lostConnection(nats))
    })
    const until = performance.now() + timeoutMs
    const late = () => timedOut(nats, timeoutMs, lease.state.isUp ? undefined : lease.problem)
    const failed = failFast
      ? lease.firstFailure.then((problem) => Promise.reject(unreachable(nats, problem)))
      : cancelled.promise
    failed.catch(() => undefined)
    cancels.add(cancelled.reject)
    try {
      const work = inTurn(frame, until, master)
      work.catch(() => undefined)
      return await withTimeout(Promise.race([work, cancelled.promise, failed]), timeoutMs, late)
    } catch (error) {
      if (error instanceof TimeoutError) throw late()
      throw error instanceof RequestError ? lostConnection(nats) : error
    } finally {
      forget()
      cancels.delete(cancelled.reject)
    }
  }

  return {
    request,
    async close() {
      isClosed = true
      stopListening()
      cancelAll(requestCancelled(nats))
      await lease.release()
    },
  }
}

const leftUntil = (time: number): number => Math.max(1, time - performance.now())
