import { SaltError } from '../../base/errors.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { MasterLink } from './master-link.ts'

/** Limits the requests of one link under way. Further ones wait; their time-out begins when they are sent. */
const MAX_REQUESTS = 48
/** How long a request may wait to be sent. */
const MAX_WAIT_MS = 60_000

/** Limit the requests under way: of thousands sent at once, the last would time out before the master gets to them. */
export function limitRequests(ask: MasterLink['ask']): MasterLink['ask'] {
  const turns = new Semaphore(MAX_REQUESTS)
  return async (load, timeoutMs, via) => {
    const leave = await turns.take(turns.full ? AbortSignal.timeout(MAX_WAIT_MS) : undefined).catch(busy)
    try {
      return await ask(load, timeoutMs, via)
    } finally {
      leave()
    }
  }
}

function busy(cause: unknown): never {
  throw new SaltError(
    'MASTER_UNREACHABLE',
    `The master is overloaded: the request waited ${MAX_WAIT_MS / 1000} seconds in the queue and was not sent. ` +
      'Raise worker_threads of the master.',
    { reason: 'The master does not keep up with the requests of this server. Nothing was sent.' },
    { cause },
  )
}
