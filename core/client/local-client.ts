import type { Log } from '../author/context.ts'
import { currentUser } from '../base/current-user.ts'
import { SaltError } from '../base/errors.ts'
import { type MembersOf, refuseUnknownMembers } from '../base/known-members.ts'
import type { MasterConfig } from '../config/index.ts'
import { component } from '../log/component.ts'
import { expandTarget } from '../targets/index.ts'
import { isTraced, jobTracer, tracedResults } from '../tracing/index.ts'
import { isRecord } from '../wire/bytes.ts'
import {
  CALL_REFUSED,
  makePlanRequest,
  makePublish,
  type PublishLoad,
  TARGET_INVALID,
} from '../wire/publish-request.ts'
import type { BatchRun, BatchSettings, Plan, PublishedJob, PublishRequest, Run, Stream } from './contract.ts'
import { localCredentials } from './credentials.ts'
import { type ExternalAuth, isLockedOut, lockedOut, whyUnknown } from './external-auth.ts'
import { JobEvents } from './job-events.ts'
import { linkHere, type MasterEvents, type MasterLink } from './master-link.ts'
import { Waiting } from './return-stream.ts'
import { turnsOver } from './turn.ts'
import { type CollectSettings, collect, follow } from './wait.ts'

/** Seconds to wait for the master to take a job. */
const PUBLISH_TIMEOUT = 15

const REQUEST: MembersOf<PublishRequest> = {
  tgt: true,
  fun: true,
  arg: true,
  kwarg: true,
  words: true,
  tgtType: true,
  timeout: true,
  gatherJobTimeout: true,
  ret: true,
  jid: true,
  delimiter: true,
  metadata: true,
  retConfig: true,
  retKwargs: true,
  moduleExecutors: true,
  executorOpts: true,
  check: true,
  user: true,
  extras: true,
  signal: true,
}
const BATCH: MembersOf<BatchSettings> = { batchWait: true, failhard: true, maxFail: true, onWave: true }

/** Publishes jobs as a user of the master's host, and gives their results. */
export class LocalClient {
  readonly #config: MasterConfig
  readonly #link: MasterLink
  readonly #auth: ExternalAuth | undefined
  readonly #log: Log | undefined

  /** Over a link that stays its owner's to close. `auth` and `log`: as {@link connect} has them. */
  constructor(config: MasterConfig, link: MasterLink, auth?: ExternalAuth, log?: Log) {
    this.#config = config
    this.#link = link
    this.#auth = auth
    this.#log = log && component(log, 'client')
  }

  /**
   * Rejects with MASTER_UNREACHABLE if no master with this configuration runs here. `auth`: who the master is told to
   * be asking; without it, the local user who runs this. `log` is told, at `debug`, which returns are waited for and come.
   */
  static async connect(config: MasterConfig, auth?: ExternalAuth, log?: Log): Promise<LocalClient> {
    return new LocalClient(config, await linkHere(config, { log }), auth, log)
  }

  /** Publish without waiting for results. Rejects with CALL_REFUSED, NO_MINIONS_MATCHED, AUTHENTICATION_FAILED, …. */
  async runJob(request: PublishRequest): Promise<PublishedJob> {
    const start = Date.now()
    const published = await this.#publish(request)
    if (isTraced()) (await jobTracer())?.note(spanOf(request, published, start))
    return published
  }

  async #publish(request: PublishRequest): Promise<PublishedJob> {
    const read = (reply: unknown) => readPublished(reply, request, this.#auth)
    return this.#askWithKey(request, makePublish, read)
  }

  /** What would become of a job; nothing is published. Rejects as {@link runJob} does, but not for who may not publish it. */
  async plan(request: PublishRequest): Promise<Plan> {
    return this.#askWithKey(request, makePlanRequest, (reply) => readPlan(reply, this.#auth))
  }

  /** Ask; if the master refuses the key, and has made a new one for the local user since it was read, ask once more with that. */
  async #askWithKey<T>(
    request: PublishRequest,
    make: (load: PublishLoad) => Record<string, unknown>,
    read: (reply: unknown) => T,
  ): Promise<T> {
    const load = await this.#loadOf(request)
    try {
      return read(await this.#ask(make(load)))
    } catch (error) {
      if (this.#auth || !SaltError.is(error) || error.code !== 'AUTHENTICATION_FAILED') throw error
      const { key } = await localCredentials(this.#config).catch(() => load)
      if (key === load.key) throw error
      return read(await this.#ask(make({ ...load, key })))
    }
  }

  async #loadOf(request: PublishRequest): Promise<PublishLoad> {
    refuseUnknownMembers('A job', request, REQUEST)
    const auth = this.#auth
    const { user, key } = auth ? { user: currentUser(), key: '' } : await localCredentials(this.#config)
    return {
      ...(await targetOf(request, this.#config)),
      fun: request.fun,
      arg: argumentsOf(request),
      words: request.words,
      user: request.user ?? user,
      key,
      ret: request.ret ?? '',
      jid: request.jid ?? '',
      timeout: request.timeout ?? this.#config.timeout,
      kwargs: { ...extrasOf(request), ...auth },
      check: request.check !== false,
    }
  }

  /** The same; gives only the jid. */
  async cmdAsync(request: PublishRequest): Promise<string> {
    return (await this.runJob(request)).jid
  }

  /** Publish and give the results as they come. Listens before it publishes, so no answer is too early. */
  cmdIter(request: PublishRequest): Promise<Run> {
    return this.#publishAnd(collect, request)
  }

  /** The same, with each row a function yields before it returns. */
  cmdStream(request: PublishRequest): Promise<Stream> {
    return this.#publishAnd(follow, request)
  }

  async #publishAnd<T>(
    watch: (settings: CollectSettings) => AsyncGenerator<T>,
    request: PublishRequest,
  ): Promise<PublishedJob & AsyncIterable<T> & Pick<Run, 'counts'>> {
    const { signal, user } = request
    signal?.throwIfAborted()
    const { events: bus, records } = this.#link
    const events = new JobEvents(bus, signal)
    const start = Date.now()
    try {
      const published = await events.hearOf(() => this.#publish(request))
      const timeout = request.timeout ?? this.#config.timeout
      const waiting = new Waiting(published, Date.now() + timeout * 1000)
      const results = watch({
        waiting,
        events,
        timeout,
        gatherJobTimeout: request.gatherJobTimeout ?? this.#config.gather_job_timeout,
        findJob: (jid, minions) => this.#findJob(jid, minions, user),
        turns: turnsOver(bus),
        records,
        log: this.#log,
      })
      const told = isTraced() ? tracedResults(results, spanOf(request, published, start)) : results
      return { ...published, counts: () => waiting.counts(), [Symbol.asyncIterator]: () => told }
    } catch (error) {
      events.close()
      throw error
    }
  }

  /** Run to the end: id → return of those that returned. */
  async cmd(request: PublishRequest): Promise<Record<string, unknown>> {
    const returns: Record<string, unknown> = {}
    for await (const result of await this.cmdIter(request)) {
      if (result.state === 'returned') returns[result.id] = result.return
    }
    return returns
  }

  /** Run on a random choice of `size` of the minions that have the function. */
  async cmdSubset(request: PublishRequest, size: number): Promise<Run> {
    return this.cmdIter(await this.chooseSubset(request, size))
  }

  /** The request for a random choice of `size` of its minions, by asking which of them have its functions. */
  async chooseSubset(request: PublishRequest, size: number): Promise<PublishRequest> {
    const { tgt, tgtType, delimiter, timeout, gatherJobTimeout, user, signal } = request
    const question = {
      tgt,
      tgtType,
      delimiter,
      timeout,
      gatherJobTimeout,
      user,
      signal,
      fun: 'sys.list_functions',
      check: false,
    }
    const able = Object.entries(await this.cmd(question)).filter(([, names]) => hasAll(names, request.fun))
    if (!able.length) throw noneAble(request.fun)
    return { ...request, tgt: shuffled(able.map(([id]) => id)).slice(0, size), tgtType: 'list' }
  }

  /** Run on `size` minions at a time, `3` or `10%`: waves go out while the results are read. */
  async cmdBatch(
    request: PublishRequest,
    size: number | string,
    settings: BatchSettings = {},
  ): Promise<BatchRun> {
    refuseUnknownMembers('cmdBatch', settings, BATCH)
    const { openBatch } = await import('./batch.ts')
    return openBatch(this, this.#config, request, size, settings)
  }

  /**
   * The same by the master itself: goes on without this program, and after a restart of the master. Rejects with
   * INVOCATION if the master is one of Python Salt, of which many would run the job everywhere at once.
   */
  async startBatch(
    request: PublishRequest,
    size: number | string,
    settings: Omit<BatchSettings, 'onWave'> = {},
  ): Promise<PublishedJob> {
    refuseUnknownMembers('startBatch', settings, BATCH)
    const { checkedBatch } = await import('./start-batch.ts')
    await this.plan(request).catch(refuseBatch)
    return this.runJob(checkedBatch(request, size, settings, this.#config))
  }

  /** The event bus of the master this client is connected to. */
  get events(): MasterEvents {
    return this.#link.events
  }

  async close(): Promise<void> {
    await this.#link.close()
    if (isTraced()) await (await jobTracer())?.flush()
  }

  /** Ask silent minions whether they still work on a job; gives those that do, as they answer (wire protocol §13.3). */
  async #findJob(jid: string, minions: readonly string[], user: string | undefined): Promise<PublishedJob> {
    return this.runJob({
      tgt: minions,
      tgtType: 'list',
      fun: 'saltutil.find_job',
      arg: [jid],
      check: false,
      ...(user && { user }),
    })
  }

  #ask(load: Record<string, unknown>): Promise<unknown> {
    return this.#link.ask(load, PUBLISH_TIMEOUT * 1000)
  }
}

const spanOf = ({ fun }: PublishRequest, { jid, minions }: PublishedJob, start: number) =>
  ({ part: 'client', jid, fun, start, minions: minions.length }) as const

/** As it is published. What makes no sense, or is known to the master's host only, is found out before anything is sent. */
async function targetOf({ tgt, tgtType = 'glob', delimiter }: PublishRequest, config: MasterConfig) {
  const target = { tgt, tgt_type: tgtType, ...(delimiter !== undefined && { delimiter }) }
  const expanded = await expandTarget(target, { config })
  return { tgt: expanded.tgt, tgtType: expanded.tgt_type }
}

/**
 * Keyword arguments travel as one marked map at the end (wire protocol §10.1), of several functions at the end of each list.
 * @throws SaltError INVALID_ARGUMENTS
 */
function argumentsOf({ fun, arg = [], kwarg }: PublishRequest): readonly unknown[] {
  const keywords = kwarg && Object.keys(kwarg).length ? [{ __kwarg__: true, ...kwarg }] : []
  if (!Array.isArray(fun)) return [...arg, ...keywords]
  const isPlain = arg.length === 0 || (arg.length === fun.length && arg.every(Array.isArray))
  if (!isPlain)
    throw new SaltError(
      'INVALID_ARGUMENTS',
      `arg must have a list for each of the ${fun.length} functions, as [["a"], []]. No command was sent.`,
    )
  if (keywords.length === 0) return arg
  return fun.map((_, index) => [...((arg[index] as unknown[] | undefined) ?? []), ...keywords])
}

function extrasOf(request: PublishRequest): Record<string, unknown> {
  const { delimiter = ':', metadata, retConfig, retKwargs, moduleExecutors, executorOpts } = request
  return {
    delimiter,
    show_timeout: true,
    show_jid: false,
    metadata,
    ret_config: retConfig,
    ret_kwargs: retKwargs,
    module_executors: moduleExecutors,
    executor_opts: executorOpts,
    ...request.extras,
  }
}

function readPublished(
  reply: unknown,
  request: PublishRequest,
  auth: ExternalAuth | undefined,
): PublishedJob {
  if (isRecord(reply) && isRecord(reply.error)) throw failed(reply.error, auth)
  const load = isRecord(reply) && isRecord(reply.load) ? reply.load : undefined
  if (!load)
    throw new SaltError(
      'DECODE_FAILED',
      `The master did not take the job; it answered ${JSON.stringify(reply)}.`,
    )
  const { jid, minions, missing, unknown, refusals } = load
  if (typeof jid !== 'string') throw nobody(load, request)
  return {
    ...{ jid, minions: texts(minions), missing: texts(missing) },
    ...(Array.isArray(unknown) && { unknown: texts(unknown) }),
    ...readRefusals(refusals),
  }
}

/** Masters of Python Salt do not say why. */
function nobody(
  { reason, invalid }: Record<string, unknown>,
  { tgt, tgtType = 'glob' }: PublishRequest,
): SaltError {
  if (typeof invalid === 'string') return new SaltError('TARGET_INVALID', invalid)
  const group = tgtType === 'nodegroup' ? `Nodegroup '${tgt}' means nobody. ` : ''
  const why = typeof reason === 'string' ? `\n${group}${reason}` : ''
  return new SaltError(
    'NO_MINIONS_MATCHED',
    `No minions matched the target. No command was sent, no jid was assigned.${why}`,
    { tgt, tgtType },
  )
}

function readRefusals(value: unknown): Pick<PublishedJob, 'refusals'> {
  if (!Array.isArray(value)) return {}
  const maps = value.filter(isRecord)
  return {
    refusals: maps.map(({ minions, reason }) => ({ minions: texts(minions), reason: String(reason) })),
  }
}

function readPlan(reply: unknown, auth: ExternalAuth | undefined): Plan {
  if (isRecord(reply) && isRecord(reply.error)) throw failed(reply.error, auth)
  const plan = isRecord(reply) && isRecord(reply.load) ? reply.load.plan : undefined
  if (isRecord(plan)) return plan as unknown as Plan
  throw new SaltError(
    'INVOCATION',
    'This master makes no plans: it is one of Python Salt, or an older one. No command was sent.',
  )
}

/** Only masters of salt-ts make plans. */
function refuseBatch(error: unknown): never {
  if (!SaltError.is(error) || error.code !== 'INVOCATION') throw error
  throw new SaltError(
    'INVOCATION',
    'No command was sent: this master is one of Python Salt, and may not know batches, but run the job everywhere at once. ' +
      'Leave out --async; then this command runs the batch itself.',
  )
}

function failed(error: Record<string, unknown>, auth: ExternalAuth | undefined): SaltError {
  const name = String(error.name)
  if (name === CALL_REFUSED) return new SaltError('CALL_REFUSED', String(error.message))
  if (name === TARGET_INVALID) return new SaltError('TARGET_INVALID', String(error.message))
  const { message, reason, rule } = error
  if (typeof reason === 'string' && isLockedOut(error)) return lockedOut(reason, error)
  const code = name.startsWith('Authentication')
    ? typeof reason === 'string' // It cannot be found out now.
      ? 'MASTER_UNREACHABLE'
      : 'AUTHENTICATION_FAILED'
    : name.startsWith('Authorization')
      ? 'AUTHORIZATION_FAILED'
      : 'INVOCATION'
  const guess = auth && code === 'AUTHENTICATION_FAILED' ? whyUnknown(auth) : undefined
  const why = typeof reason === 'string' ? reason : guess
  const more = { ...(typeof reason === 'string' && { reason }), ...(typeof rule === 'string' && { rule }) }
  return new SaltError(code, why === undefined ? String(message) : `${message} ${why}`, {
    name,
    said: message,
    ...more,
  })
}

const hasAll = (names: unknown, fun: PublishRequest['fun']): boolean =>
  Array.isArray(names) && [fun].flat().every((name) => names.includes(name))

function noneAble(fun: PublishRequest['fun']): SaltError {
  return new SaltError(
    'NO_MINIONS_MATCHED',
    `No minion that the target means answered that it has ${[fun].flat().join(' and ')}. No command was sent.`,
  )
}

function shuffled<T>(values: readonly T[]): T[] {
  const places = values.map((value) => ({ value, place: Math.random() }))
  return places.sort((a, b) => a.place - b.place).map(({ value }) => value)
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
