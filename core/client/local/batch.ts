/** Runs a job on some minions at a time, in waves published by this program (features of `salt --batch`). */

import { untyped } from '../../author/calls.ts'
import { systemClock } from '../../base/clock.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { createJidSource } from '../../base/jid.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { tags } from '../../events/index.ts'
import {
  invalidBatch,
  invalidMaxFail,
  mayFail,
  minionsAtOnce,
  readBatch,
  readBatchSize,
} from '../../jobs/batch-size.ts'
import { BatchWindow } from '../../jobs/batch-window.ts'
import type { Refusal } from '../../wire/publish-request.ts'
import {
  type AnyRequest,
  type BatchRun,
  type BatchSettings,
  hasReturned,
  type MinionResult,
  type Plan,
  type Run,
} from './contract.ts'
import { Inbox } from './inbox.ts'
import type { MasterEvents } from './master-link.ts'

/** The members of a client that a batch uses. */
export interface BatchClient {
  readonly events: MasterEvents
  plan(request: AnyRequest): Promise<Plan>
  cmdIter(request: AnyRequest): Promise<Run>
}

type PingConfig = Pick<MasterConfig, 'batch_presence_ping_timeout' | 'batch_presence_ping_gather_job_timeout'>

const NOT_REACHED = 'Minion was not reached. No job was sent, because the batch stopped before.'
const NO_RESULT = 'Minion did not return. [No response]'

/** Return Salt's message for a minion that does not answer the ping, with the state in brackets if it is known. */
const withoutJob = (reason: string): string =>
  ['Minion did not respond. No job will be sent.', ...(reason.match(/\[[^\]]*\]/) ?? [])].join(' ')

const nextJid = createJidSource(systemClock)

/**
 * Ping the target, then run on the minions that answered, `size` at a time. Each wave is a job of its own, with the jid of
 * the batch, which is that of its first wave, in its metadata (`batch_jid`, as openSUSE's masters name it). Resolves once
 * all minions have answered the ping or have been given up.
 */
export async function openBatch(
  client: BatchClient,
  config: PingConfig,
  request: AnyRequest,
  given: number | string,
  settings: BatchSettings,
): Promise<BatchRun> {
  const { size, maxFail } = readBatchSizes(given, settings)
  const { check, refusals } = await preflightBatch(client, request)
  const { available, silent, missing, late } = await pingTarget(client, config, request)
  const slots = minionsAtOnce(size, available.length)
  const window = new BatchWindow({
    size: slots,
    waitMs: (settings.batchWait ?? 0) * 1000,
    failhard: settings.failhard === true,
    mayFail: mayFail(maxFail, available.length),
  })
  window.join(available)
  const jid = request.jid || nextJid()
  const metadata = { ...(isRecord(request.metadata) && request.metadata), batch_jid: jid }
  const publish: BatchParts['publish'] = (ids, isFirst) => {
    const wave = { tgt: ids, tgtType: 'list', metadata, check: isFirst && check }
    return client.cmdIter({ ...request, ...wave, jid: isFirst ? jid : nextJid() })
  }
  const deliversLater = (request.deliverWithin ?? 0) > 0
  const inbox = new Inbox<News>()
  const ended = { returned: 0, missing: 0 }
  const results = runBatch({
    jid,
    window,
    inbox,
    silent,
    late,
    publish,
    ended,
    onWave: settings.onWave,
    signal: request.signal,
    deliversLater,
  })
  return {
    jid,
    minions: available,
    missing,
    refusals,
    silent: [...silent.keys()],
    deliversLater,
    size: slots,
    get queued() {
      return window.queued
    },
    get halted() {
      return window.halted
    },
    counts: () => {
      const [running, queued] = [window.running.size, window.queued.length]
      const { returned, missing } = ended
      const expected = returned + missing + running + queued
      return { expected, returned, running, silent: queued, missing, reconnecting: 0, waiting: 0 }
    },
    stop() {
      window.halt('Batch run stopped on request.')
      inbox.wake()
    },
    [Symbol.asyncIterator]: () => results,
  }
}

/** Ping the target. Return the minions that answered and those that did not, and a stream of later answers. */
async function pingTarget(
  client: BatchClient,
  config: PingConfig,
  { tgt, tgtType, delimiter, user, signal, ...request }: AnyRequest,
) {
  const jid = nextJid()
  const late = client.events.subscribe(tags.jobReturn(jid, ''), signal)
  const timeout = config.batch_presence_ping_timeout ?? request.timeout
  const gatherJobTimeout = config.batch_presence_ping_gather_job_timeout ?? request.gatherJobTimeout
  const available: string[] = []
  const silent = new Map<string, MinionResult>()
  try {
    const target = { tgt, tgtType, delimiter, user, signal }
    const ping = await client.cmdIter({
      ...target,
      fun: untyped('test.ping'),
      jid,
      check: false,
      timeout,
      gatherJobTimeout,
    })
    for await (const pong of ping) {
      if (hasReturned(pong)) available.push(pong.id)
      else silent.set(pong.id, { ...pong, state: 'missing', reason: withoutJob(pong.reason) })
    }
    return { available, silent, missing: ping.missing, late }
  } catch (error) {
    late.close()
    throw error
  }
}

function readBatchSizes(given: number | string, { maxFail }: BatchSettings) {
  const size = readBatch(given)
  if (!size) throw new SaltError('INVALID_ARGUMENTS', invalidBatch(given))
  if (maxFail === undefined) return { size, maxFail }
  const limit = readBatchSize(maxFail)
  if (!limit) throw new SaltError('INVALID_ARGUMENTS', invalidMaxFail(maxFail))
  return { size, maxFail: limit }
}

/**
 * Find out which minions of the whole target would refuse the job: a single wave may only have such minions although others
 * would run it. If all would refuse, the first wave is checked like any job, so that nothing is sent. Masters of Python Salt
 * cannot answer that.
 */
async function preflightBatch(
  client: BatchClient,
  request: AnyRequest,
): Promise<{ check: boolean; refusals: readonly Refusal[] }> {
  const unchecked = { check: false, refusals: [] }
  if (request.check === false) return unchecked
  const plan = await client.plan(request).catch((error: unknown) => {
    if (SaltError.is(error) && error.code === 'MASTER_UNREACHABLE') throw error
  })
  if (!plan?.allowed) return unchecked
  const refusing = plan.groups.map(({ minions, calls }) => ({
    minions,
    reasons: calls.flatMap(({ refusal }) => refusal ?? []),
    isRefused: calls.length > 0 && calls.every(({ refusal }) => refusal !== undefined),
  }))
  if (refusing.every(({ isRefused }) => isRefused)) return { check: true, refusals: [] }
  const warned = refusing.filter(({ reasons }) => reasons.length > 0)
  return {
    check: false,
    refusals: warned.map(({ minions, reasons }) => ({ minions, reason: reasons.join(' ') })),
  }
}

type News = MinionResult | { readonly id: string; readonly state: 'joined' }

interface BatchParts {
  /** The jid of the batch. */
  readonly jid: string
  /** Holds the minions that answered the ping. */
  readonly window: BatchWindow
  readonly inbox: Inbox<News>
  /** Minions that did not answer the ping, with their results. */
  readonly silent: Map<string, MinionResult>
  /** Later answers to the ping. */
  readonly late: AsyncIterable<{ readonly data: Readonly<Record<string, unknown>> }> & { close(): void }
  publish(minions: readonly string[], isFirst: boolean): Promise<Run>
  /** Number of minions that have ended. */
  readonly ended: { returned: number; missing: number }
  readonly onWave: BatchSettings['onWave']
  readonly signal: AbortSignal | undefined
  /** Whether silent minions get the job when they come. */
  readonly deliversLater: boolean
}

/**
 * Yield results as they come; at the end the minions that were not reached and those that never answered, for which the job waits
 * with `deliverWithin`.
 */
async function* runBatch(parts: BatchParts): AsyncGenerator<MinionResult> {
  const { jid, window, inbox, silent, late, ended, signal } = parts
  void welcome(late, inbox)
  let isFirst = true
  const wake = () => inbox.wake()
  signal?.addEventListener('abort', wake)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const ids = window.next(Date.now())
      if (ids.length > 0) await startWave(parts, ids, isFirst)
      if (ids.length > 0) isFirst = false
      if (window.over) break
      for (const news of await inbox.take(window.nextOpening())) {
        signal?.throwIfAborted()
        if (news.state === 'joined') {
          if (silent.delete(news.id)) window.join([news.id])
          continue
        }
        window.finished(news.id, news.state === 'returned', Date.now())
        ended[hasReturned(news) ? 'returned' : 'missing']++
        yield news
      }
    }
    yield* lost(window.queued, NOT_REACHED, jid)
    if (parts.deliversLater && window.halted === undefined && silent.size > 0)
      yield* await parts.publish([...silent.keys()], isFirst)
    else yield* silent.values()
  } finally {
    signal?.removeEventListener('abort', wake)
    late.close()
  }
}

async function welcome(late: BatchParts['late'], inbox: Inbox<News>): Promise<void> {
  for await (const { data } of late) {
    if (typeof data.id === 'string') inbox.push({ id: data.id, state: 'joined' })
  }
}

/**
 * Publish a wave. If the master refuses the first one, the batch fails. If a later one fails, no more follow: it is not
 * known whether that wave was published, and it must not be published twice.
 */
async function startWave(parts: BatchParts, ids: readonly string[], isFirst: boolean): Promise<void> {
  const { jid, window, inbox } = parts
  try {
    const run = await parts.publish(ids, isFirst)
    parts.onWave?.({ jid: run.jid, minions: ids })
    void gather(run, ids, inbox)
  } catch (error) {
    const isGone = SaltError.is(error) && error.code === 'NO_MINIONS_MATCHED'
    if (isFirst && !isGone) throw error
    const reason = `Minion did not return. [The job could not be published: ${messageOf(error)}]`
    inbox.push(...lost(ids, reason, jid))
    if (!isGone) window.halt(`Batch run stopped: the next wave could not be published. ${messageOf(error)}`)
  }
}

/** Collect the results of a wave. Every minion of it gets one, whatever happens to the job. */
async function gather(run: Run, ids: readonly string[], inbox: Inbox<News>): Promise<void> {
  const open = new Set(ids)
  let reason = NO_RESULT
  try {
    for await (const result of run) if (open.delete(result.id)) inbox.push(result)
  } catch (error) {
    reason = `${NO_RESULT} ${messageOf(error)}`
  }
  inbox.push(...lost([...open], reason, run.jid))
}

const lost = (ids: readonly string[], reason: string, jid: string): MinionResult[] =>
  ids.map((id) => ({ id, state: 'missing', jobState: 'unknown', why: reason, reason, jid }))

/**
 * Build the request for a batch that the master runs, as openSUSE's clients do; `failhard`, `batch_max_fail` are our own.
 *
 * @throws SaltError INVALID_ARGUMENTS
 */
export function batchRequest(
  request: AnyRequest,
  size: number | string,
  settings: Omit<BatchSettings, 'onWave'>,
  config: Pick<MasterConfig, 'batch_presence_ping_timeout'>,
): AnyRequest {
  readBatchSizes(size, settings)
  const { batchWait, failhard, maxFail } = settings
  const extras = {
    ...request.extras,
    batch: String(size),
    ...(batchWait !== undefined && { batch_delay: batchWait }),
    ...(failhard && { failhard }),
    ...(maxFail !== undefined && { batch_max_fail: String(maxFail) }),
    ...(request.gatherJobTimeout !== undefined && { gather_job_timeout: request.gatherJobTimeout }),
    ...(config.batch_presence_ping_timeout !== undefined && {
      batch_presence_ping_timeout: config.batch_presence_ping_timeout,
    }),
  }
  return { ...request, extras }
}
