import { currentUser } from '../../base/current-user.ts'
import { SaltError } from '../../base/errors.ts'
import { type MembersOf, refuseUnknownMembers } from '../../base/known-members.ts'
import { isRecord } from '../../base/record.ts'
import type { MasterConfig } from '../../config/index.ts'
import { jsonText } from '../../dialect/json.ts'
import { defaultTargetType, expandTarget } from '../../targets/index.ts'
import {
  CALL_REFUSED,
  makePlanRequest,
  makePublish,
  type PublishLoad,
  TARGET_INVALID,
} from '../../wire/publish-request.ts'
import type { AnyRequest, Plan, PublishedJob } from './contract.ts'
import { localCredentials } from './credentials.ts'
import {
  AUTHENTICATION_MS,
  type ExternalAuth,
  isLockedOut,
  lockedOutError,
  whyNotAuthenticated,
} from './external-auth.ts'
import type { MasterLink } from './master-link.ts'

/** How long to wait for the master to accept a job of a user of its host. */
const PUBLISH_MS = 15_000

const REQUEST: MembersOf<AnyRequest> = {
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
  deliverWithin: true,
  check: true,
  user: true,
  extras: true,
  signal: true,
}

/** Sends publish and plan requests to the master as one user, and reads its replies (wire protocol §10). */
export class JobPublisher {
  readonly #config: MasterConfig
  readonly #link: MasterLink
  readonly #auth: ExternalAuth | undefined

  constructor(config: MasterConfig, link: MasterLink, auth: ExternalAuth | undefined) {
    this.#config = config
    this.#link = link
    this.#auth = auth
  }

  /** Rejects with CALL_REFUSED, NO_MINIONS_MATCHED, AUTHENTICATION_FAILED, …. */
  async publish(request: AnyRequest): Promise<PublishedJob> {
    const read = (reply: unknown) => readPublished(reply, request, this.#auth)
    return this.#askWithKey(request, makePublish, read)
  }

  async plan(request: AnyRequest): Promise<Plan> {
    return this.#askWithKey(request, makePlanRequest, (reply) => readPlan(reply, this.#auth))
  }

  /** Send a request; if the master refuses the local user's key and has made a new one since, send it again with that. */
  async #askWithKey<T>(
    request: AnyRequest,
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

  async #loadOf(request: AnyRequest): Promise<PublishLoad> {
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
      deliverWithin: request.deliverWithin,
    }
  }

  #ask(load: Record<string, unknown>): Promise<unknown> {
    return this.#link.ask(load, this.#auth ? AUTHENTICATION_MS : PUBLISH_MS)
  }
}

/** Expand the target to the form that is published. Invalid targets are refused before anything is sent. */
async function targetOf(
  { tgt, tgtType = defaultTargetType(tgt), delimiter }: AnyRequest,
  config: MasterConfig,
) {
  const target = { tgt, tgt_type: tgtType, ...(delimiter !== undefined && { delimiter }) }
  const expanded = await expandTarget(target, { config })
  return { tgt: expanded.tgt, tgtType: expanded.tgt_type }
}

/**
 * Return the arguments with the keyword arguments as one marked map at the end (wire protocol §10.1); with several
 * functions, at the end of each list.
 * @throws SaltError INVALID_ARGUMENTS
 */
function argumentsOf({ fun, arg = [], kwarg }: AnyRequest): readonly unknown[] {
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

function extrasOf(request: AnyRequest): Record<string, unknown> {
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

function readPublished(reply: unknown, request: AnyRequest, auth: ExternalAuth | undefined): PublishedJob {
  if (isRecord(reply) && isRecord(reply.error)) throw failed(reply.error, auth)
  const load = isRecord(reply) && isRecord(reply.load) ? reply.load : undefined
  if (!load)
    throw new SaltError('DECODE_FAILED', `The master did not accept the job; it answered ${jsonText(reply)}.`)
  const { jid, minions, missing, unknown, refusals, syndics, deliver_until: until, waiting } = load
  if (typeof jid !== 'string') throw noMatchError(load, request)
  return {
    jid,
    minions: texts(minions),
    missing: texts(missing),
    ...(Array.isArray(unknown) && { unknown: texts(unknown) }),
    ...(Number(until) > 0 && {
      delivery: { until: new Date(Number(until) * 1000), waiting: texts(waiting) },
    }),
    ...(isRecord(syndics) && {
      syndics: {
        reporting: texts(syndics.reporting),
        silent: texts(syndics.silent),
        away: texts(syndics.away),
      },
    }),
    ...readRefusals(refusals),
  }
}

/** Return the error for a target that matches no minion. Masters of Python Salt give no reason. */
function noMatchError(
  { reason, invalid }: Record<string, unknown>,
  { tgt, tgtType = defaultTargetType(tgt) }: AnyRequest,
): SaltError {
  if (typeof invalid === 'string') return new SaltError('TARGET_INVALID', invalid)
  const group = tgtType === 'nodegroup' ? `Nodegroup '${tgt}' matches no minion. ` : ''
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
    'This master does not support --plan: it is a Python Salt master or an older salt-ts. No command was sent.',
  )
}

function failed(error: Record<string, unknown>, auth: ExternalAuth | undefined): SaltError {
  const name = String(error.name)
  if (name === CALL_REFUSED) return new SaltError('CALL_REFUSED', String(error.message))
  if (name === TARGET_INVALID) return new SaltError('TARGET_INVALID', String(error.message))
  const { message, reason, rule } = error
  if (typeof reason === 'string' && isLockedOut(error)) return lockedOutError(reason, error)
  const code = name.startsWith('Authentication')
    ? typeof reason === 'string' // It cannot be determined now.
      ? 'MASTER_UNREACHABLE'
      : 'AUTHENTICATION_FAILED'
    : name.startsWith('Authorization')
      ? 'AUTHORIZATION_FAILED'
      : 'INVOCATION'
  const guess = auth && code === 'AUTHENTICATION_FAILED' ? whyNotAuthenticated(auth) : undefined
  const why = typeof reason === 'string' ? reason : guess
  const more = { ...(typeof reason === 'string' && { reason }), ...(typeof rule === 'string' && { rule }) }
  return new SaltError(code, why === undefined ? String(message) : `${message} ${why}`, {
    name,
    said: message,
    ...more,
  })
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])
