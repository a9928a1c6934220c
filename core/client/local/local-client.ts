import { type JobFunctions, type JobReturn, untyped } from '../../author/calls.ts'
import type { Log } from '../../author/context.ts'
import { SaltError } from '../../base/errors.ts'
import { type MembersOf, refuseUnknownMembers } from '../../base/known-members.ts'
import type { MasterConfig } from '../../config/index.ts'
import { component } from '../../log/component.ts'
import { isTraced, jobTracer, tracedResults } from '../../tracing/index.ts'
import {
  type AnyRequest,
  type BatchRun,
  type BatchSettings,
  hasReturned,
  type JobRequest,
  type MinionResult,
  type Plan,
  type PublishedJob,
  type Run,
  type Stream,
} from './contract.ts'
import type { ExternalAuth } from './external-auth.ts'
import { findJobSlots } from './find-job-queue.ts'
import { collectResults, type FollowSettings, followJob } from './follow-job.ts'
import { JobEvents } from './job-events.ts'
import { JobPublisher } from './job-publisher.ts'
import { linkLocal, type MasterEvents, type MasterLink } from './master-link.ts'
import { PendingReturns } from './pending-returns.ts'

const BATCH: MembersOf<BatchSettings> = { batchWait: true, failhard: true, maxFail: true, onWave: true }

/** Publishes jobs as a user of the master's host, and returns their results. */
export class LocalClient {
  readonly #config: MasterConfig
  readonly #link: MasterLink
  readonly #publisher: JobPublisher
  readonly #log: Log | undefined

  /** Use a link, which its owner closes. `auth` and `log` are those of {@link connect}. */
  constructor(config: MasterConfig, link: MasterLink, auth?: ExternalAuth, log?: Log) {
    this.#config = config
    this.#link = link
    this.#publisher = new JobPublisher(config, link, auth)
    this.#log = log && component(log, 'client')
  }

  /**
   * Connect to the master of this host. Rejects with MASTER_UNREACHABLE if no master with this configuration runs. `auth`
   * identifies the user; default: the local user who runs this program. `log` gets, at `debug`, expected and received returns.
   */
  static async connect(config: MasterConfig, auth?: ExternalAuth, log?: Log): Promise<LocalClient> {
    return new LocalClient(config, await linkLocal(config, { log }), auth, log)
  }

  /** Publish without waiting for results. Rejects with CALL_REFUSED, NO_MINIONS_MATCHED, AUTHENTICATION_FAILED, …. */
  runJob<const F extends JobFunctions>(request: JobRequest<F>): Promise<PublishedJob>
  runJob(request: AnyRequest): Promise<PublishedJob> {
    return this.#publish(request)
  }

  async #publish(request: AnyRequest): Promise<PublishedJob> {
    const start = Date.now()
    const published = await this.#publisher.publish(request)
    if (isTraced()) (await jobTracer())?.note(spanOf(request, published, start))
    return published
  }

  /** Return what the master would do with a job; nothing is published. Rejects as {@link runJob} does, but not if the user may not publish it. */
  plan<const F extends JobFunctions>(request: JobRequest<F>): Promise<Plan>
  async plan(request: AnyRequest): Promise<Plan> {
    return this.#publisher.plan(request)
  }

  /** Publish without waiting for results, and return only the jid. */
  async cmdAsync<const F extends JobFunctions>(request: JobRequest<F>): Promise<string> {
    return (await this.runJob(request)).jid
  }

  /** Publish and return the results as they come. Subscribes before it publishes, so that no return is missed. */
  cmdIter<const F extends JobFunctions>(request: JobRequest<F>): Promise<Run<JobReturn<F>>>
  cmdIter(request: AnyRequest): Promise<Run> {
    return this.#publishAnd(collectResults, request)
  }

  /** Publish and return the results as they come, with each row that a function yields before it returns. */
  cmdStream<const F extends JobFunctions>(request: JobRequest<F>): Promise<Stream<JobReturn<F>>>
  cmdStream(request: AnyRequest): Promise<Stream> {
    return this.#publishAnd(followJob, request)
  }

  async #publishAnd<T>(
    watch: (settings: FollowSettings) => AsyncGenerator<T>,
    request: AnyRequest,
  ): Promise<PublishedJob & AsyncIterable<T> & Pick<Run, 'counts'>> {
    const { signal, user } = request
    signal?.throwIfAborted()
    const { events: bus, records } = this.#link
    const events = new JobEvents(bus, signal)
    const start = Date.now()
    try {
      const published = await events.publishAndListen(() => this.#publisher.publish(request))
      const timeout = request.timeout ?? this.#config.timeout
      const pending = new PendingReturns(published, Date.now() + timeout * 1000, {
        syndicWaitMs: this.#config.syndic_wait * 1000,
      })
      const results = watch({
        pending,
        events,
        timeout,
        gatherJobTimeout: request.gatherJobTimeout ?? this.#config.gather_job_timeout,
        findJob: (jid, minions) => this.#findJob(jid, minions, user),
        findJobSlots: findJobSlots(bus),
        records,
        log: this.#log,
      })
      const reported = isTraced() ? tracedResults(results, spanOf(request, published, start)) : results
      return { ...published, counts: () => pending.counts(), [Symbol.asyncIterator]: () => reported }
    } catch (error) {
      events.close()
      throw error
    }
  }

  /** Publish, wait for the end, and return the result of each minion by its id. */
  async cmd<const F extends JobFunctions>(
    request: JobRequest<F>,
  ): Promise<Record<string, MinionResult<JobReturn<F>>>> {
    const results: Record<string, MinionResult<JobReturn<F>>> = {}
    for await (const result of await this.cmdIter(request)) results[result.id] = result
    return results
  }

  /** Run on a random choice of `size` of the minions that have the function. */
  async cmdSubset<const F extends JobFunctions>(
    request: JobRequest<F>,
    size: number,
  ): Promise<Run<JobReturn<F>>> {
    return this.cmdIter(await this.chooseSubset(request, size))
  }

  /** Ask which minions have the functions, and return the request for `size` of those, chosen at random. */
  async chooseSubset<const F extends JobFunctions>(
    request: JobRequest<F>,
    size: number,
  ): Promise<JobRequest<F>> {
    const { tgt, tgtType, delimiter, timeout, gatherJobTimeout, user, signal } = request
    const question = {
      tgt,
      tgtType,
      delimiter,
      timeout,
      gatherJobTimeout,
      user,
      signal,
      fun: untyped('sys.list_functions'),
      check: false,
    }
    const answers = Object.values(await this.cmd(question)).filter(hasReturned)
    const able = answers.filter((answer) => hasAll(answer.return, request.fun))
    if (!able.length) throw noneAble(request.fun)
    return { ...request, tgt: shuffled(able.map(({ id }) => id)).slice(0, size), tgtType: 'list' }
  }

  /** Run on `size` minions at a time, `3` or `10%`: waves go out while the results are read. */
  cmdBatch<const F extends JobFunctions>(
    request: JobRequest<F>,
    size: number | string,
    settings?: BatchSettings,
  ): Promise<BatchRun<JobReturn<F>>>
  async cmdBatch(
    request: AnyRequest,
    size: number | string,
    settings: BatchSettings = {},
  ): Promise<BatchRun> {
    refuseUnknownMembers('cmdBatch', settings, BATCH)
    const { openBatch } = await import('./batch.ts')
    return openBatch(this, this.#config, request, size, settings)
  }

  /**
   * Have the master run a batch, which continues without this program and after a restart of the master. Rejects with
   * INVOCATION if the master is one of Python Salt: many of those would run the job everywhere at once.
   */
  startBatch<const F extends JobFunctions>(
    request: JobRequest<F>,
    size: number | string,
    settings?: Omit<BatchSettings, 'onWave'>,
  ): Promise<PublishedJob>
  async startBatch(
    request: AnyRequest,
    size: number | string,
    settings: Omit<BatchSettings, 'onWave'> = {},
  ): Promise<PublishedJob> {
    refuseUnknownMembers('startBatch', settings, BATCH)
    const { batchRequest } = await import('./batch.ts')
    await this.#publisher.plan(request).catch(refuseBatch)
    return this.#publish(batchRequest(request, size, settings, this.#config))
  }

  /** The event bus of the master this client is connected to. */
  get events(): MasterEvents {
    return this.#link.events
  }

  async close(): Promise<void> {
    await this.#link.close()
    if (isTraced()) await (await jobTracer())?.flush()
  }

  /** Ask silent minions whether they still run a job (wire protocol §13.3). */
  async #findJob(jid: string, minions: readonly string[], user: string | undefined): Promise<PublishedJob> {
    return this.runJob({
      tgt: minions,
      tgtType: 'list',
      fun: untyped('saltutil.find_job'),
      arg: [jid],
      check: false,
      ...(user && { user }),
    })
  }
}

const spanOf = ({ fun }: AnyRequest, { jid, minions }: PublishedJob, start: number) =>
  ({ part: 'client', jid, fun, start, minions: minions.length }) as const

/** Throw the error for a master of Python Salt, which is recognized because it cannot plan jobs. */
function refuseBatch(error: unknown): never {
  if (!SaltError.is(error) || error.code !== 'INVOCATION') throw error
  throw new SaltError(
    'INVOCATION',
    'No command was sent: this is a Python Salt master, which would run the job on all minions at once. ' +
      'Leave out --async; then this command runs the batch itself.',
  )
}

const hasAll = (names: unknown, fun: AnyRequest['fun']): boolean =>
  Array.isArray(names) && [fun].flat().every((name) => names.includes(name))

function noneAble(fun: AnyRequest['fun']): SaltError {
  return new SaltError(
    'NO_MINIONS_MATCHED',
    `No targeted minion reported that it has ${[fun].flat().join(' and ')}. No command was sent.`,
  )
}

function shuffled<T>(values: readonly T[]): T[] {
  const places = values.map((value) => ({ value, place: Math.random() }))
  return places.sort((a, b) => a.place - b.place).map(({ value }) => value)
}
