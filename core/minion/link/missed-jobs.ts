import { setTimeout as delay } from 'node:timers/promises'
import { SaltError } from '../../base/errors.ts'
import { onlyMaster, type Recipient } from '../../channel/request-channel.ts'
import type { ReceivedPublication } from '../../channel/subscription.ts'
import { type MissedJobs, makeMissedJobsRequest, readMissedJobsReply } from '../../wire/missed-jobs.ts'

/**
 * When to ask after the publish port has connected, in milliseconds since then: the master may still publish a job before it
 * has received the subscription.
 */
const ASK_AT_MS = [0, 1_000, 5_000]

export interface MissedJobsSettings {
  readonly id: string
  /** Send a request to the master, encrypted; to the one of that name if there are several. */
  request(load: Readonly<Record<string, unknown>>, to?: Recipient): Promise<unknown>
  /** Return the names of the masters, where there may be several: each has the jobs that it published. */
  servers(): readonly string[]
  /** Aborts when the connection is lost, or the minion closes. */
  readonly signal: AbortSignal
}

/**
 * Yield the jobs that the master published while this minion was not connected, oldest first. The minion may have seen some of
 * them. Rejects with the errors of `request`, and when the signal aborts.
 */
export async function* missedJobs({
  id,
  request,
  servers,
  signal,
}: MissedJobsSettings): AsyncGenerator<ReceivedPublication> {
  const connectedAt = performance.now()
  for (const ms of ASK_AT_MS) {
    await delay(connectedAt + ms - performance.now(), undefined, { signal, ref: false })
    const names = servers()
    if (names.length === 0) yield* missedJobsOf(undefined, id, request)
    for (const name of names) yield* unlessGone(missedJobsOf(onlyMaster(name), id, request))
  }
}

/** Yield the jobs of a master until it is gone. When it is back, it is asked again. */
async function* unlessGone<T>(jobs: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* jobs
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'MASTER_GONE') throw error
  }
}

async function* missedJobsOf(
  to: Recipient | undefined,
  id: string,
  request: MissedJobsSettings['request'],
): AsyncGenerator<ReceivedPublication> {
  let page: MissedJobs | undefined
  do {
    page = readMissedJobsReply(await request(makeMissedJobsRequest(id, page?.next), to))
    for (const { job, words } of page.jobs)
      yield { job, serial: undefined, keyDigest: '', isRepeated: true, ...(words && { words }) }
  } while (page.next)
}
