import { type Fields, isRecord } from '../base/record.ts'
import { MASK } from '../base/secret.ts'
import { valueText } from '../dialect/json.ts'
import { asNumber } from './bytes.ts'
import { deliverUntil } from './publication.ts'
import { type RawArguments, readRawArguments } from './raw-arguments.ts'

/** A local client's request to publish a job (wire protocol §8.1), read and checked. */
export interface PublishLoad {
  readonly tgt: unknown
  readonly tgtType: string
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  /** The arguments as they were typed, where that differs. Masters of Python Salt ignore this. */
  readonly words?: RawArguments | undefined
  readonly user: string
  readonly key: string
  readonly ret: string
  readonly jid: string
  readonly timeout: number | undefined
  readonly kwargs: Readonly<Record<string, unknown>>
  /** Whether to refuse calls that no minion would run. An addition of salt-ts. */
  readonly check?: boolean
  /** Seconds in which minions that are away still get the job; 0: not later. An addition of salt-ts. */
  readonly deliverWithin?: number | undefined
}

/** Name of the error if a check refuses a job. */
export const CALL_REFUSED = 'CallRefused'
/** Name of the error if the target of a plan is malformed. */
export const TARGET_INVALID = 'TargetInvalid'

/** The longest `deliver_within`, in seconds. */
export const MAX_DELIVER_SECONDS = 30 * 86_400

/** The syndics of a master of masters that a job goes to. */
export interface SyndicsOfJob {
  /** Those that will say for which minions they speak. */
  readonly reporting: readonly string[]
  /** Those of Python Salt, which may not say it. */
  readonly silent: readonly string[]
  /** Those that are not connected. */
  readonly away: readonly string[]
}

/** Extras that select returners and executors. */
const EXECUTION_OPTIONS = ['ret_config', 'ret_kwargs', 'module_executors', 'executor_opts'] as const

/** Extras of a publish request that are forwarded to the minions. */
const FORWARDED_OPTIONS = ['delimiter', 'metadata', 'master_id', ...EXECUTION_OPTIONS] as const

export function makePublish(request: PublishLoad): Record<string, unknown> {
  const { tgt, tgtType, fun, arg, user, key, ret, jid, timeout, kwargs, words, check, deliverWithin } =
    request
  const load = { cmd: 'publish', tgt, fun, arg, key, tgt_type: tgtType, ret, jid, kwargs, user, timeout }
  return {
    ...load,
    ...(words && { words }),
    ...(check && { check }),
    ...(deliverWithin && { deliver_within: deliverWithin }),
  }
}

/** Make the request for a plan: a preview of the publication, without publishing. */
export const makePlanRequest = (request: PublishLoad): Record<string, unknown> => ({
  ...makePublish(request),
  cmd: '_plan',
})

/** Read a publish request; undefined if a required member is missing or has the wrong type. */
export function readPublish(load: Readonly<Record<string, unknown>>): PublishLoad | undefined {
  const { tgt, fun, arg = [], user } = load
  const funs = Array.isArray(fun) ? fun : [fun]
  if (!funs.length || !funs.every((name) => typeof name === 'string' && name.length <= 256)) return undefined
  if (typeof user !== 'string' || !Array.isArray(arg) || tgt === undefined || tgt === null) return undefined
  const text = (key: string) => (typeof load[key] === 'string' ? load[key] : '')
  return {
    tgt,
    tgtType: text('tgt_type') || 'glob',
    fun: fun as string | string[],
    arg,
    words: readRawArguments(load.words),
    user,
    key: text('key'),
    ret: Array.isArray(load.ret) ? load.ret.map(valueText).join(',') : text('ret'),
    jid: text('jid'),
    timeout: asNumber(load.timeout),
    kwargs: isRecord(load.kwargs) ? load.kwargs : {},
    check: load.check === true,
    deliverWithin:
      load.deliver_within === undefined ? undefined : (asNumber(load.deliver_within) ?? Number.NaN),
  }
}

/**
 * Return the extras that are forwarded to the minions. A delimiter that is not text is left out, since minions would match
 * other ids by it than the master.
 */
export function forwardedOptionsOf({ delimiter, ...kwargs }: Fields): Record<string, unknown> {
  const target = typeof delimiter === 'string' ? { delimiter } : {}
  return picked({ ...target, ...kwargs }, FORWARDED_OPTIONS, (value) => value !== undefined)
}

/** Return the extras that select returners and executors, without empty ones. */
export const executionOptionsOf = (kwargs: Fields): Record<string, unknown> =>
  picked(kwargs, EXECUTION_OPTIONS, isGiven)

/** Return these extras for display. Values of maps are masked, since they may be secret. */
export const shownExecutionOptions = (kwargs: Fields): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(executionOptionsOf(kwargs)).map(([key, value]) => [key, withoutValues(value)]),
  )

/** Return the returners and extras of a job for display. */
export const shownOptions = ({
  ret,
  kwargs,
  deliverWithin,
}: Pick<PublishLoad, 'ret' | 'kwargs' | 'deliverWithin'>): Record<string, unknown> => ({
  ...(ret !== '' && { ret }),
  ...(deliverWithin && { deliver_within: deliverWithin }),
  ...shownExecutionOptions(kwargs),
})

function picked(kwargs: Fields, keys: readonly string[], isIncluded: (value: unknown) => boolean) {
  return Object.fromEntries(keys.filter((key) => isIncluded(kwargs[key])).map((key) => [key, kwargs[key]]))
}

/** Whether a value is not empty. Maps with other keys than text are not records, and never empty. */
const isGiven = (value: unknown): boolean =>
  !(value === undefined || value === null || value === '' || value === false) &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isRecord(value) && Object.keys(value).length === 0)

function withoutValues(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, MASK]))
  return [value].flat().every((each) => typeof each === 'string') ? value : MASK
}

/** Answers of the master to a publish request (wire protocol §8.1). */
export const publishReplies = {
  /**
   * The job is published. Additions of salt-ts: `unknown`, minions that the target may not match, `refusals`, `syndics`, and
   * with
   * `deliver_within` `deliver_until`, in seconds since 1970, and `waiting`, the minions that are away.
   */
  published: (
    jid: string,
    {
      minions,
      missing,
      unknown = [],
      refusals = [],
      syndics,
      delivery,
    }: Readonly<Record<'minions' | 'missing', readonly string[]>> & {
      readonly unknown?: readonly string[] | undefined
      readonly refusals?: readonly object[] | undefined
      readonly syndics?: SyndicsOfJob | undefined
      readonly delivery?: { readonly untilMs: number; readonly waiting: readonly string[] } | undefined
    },
  ) => ({
    enc: 'clear',
    load: {
      jid,
      minions,
      missing,
      ...(unknown.length > 0 && { unknown }),
      ...(refusals.length > 0 && { refusals }),
      ...(syndics && Object.values(syndics).some((ids) => ids.length > 0) && { syndics }),
      ...(delivery && { ...deliverUntil(delivery), waiting: delivery.waiting }),
    },
  }),
  /** No minion matches. Additions of salt-ts: `reason`, why none does; `invalid`, what is wrong with the target. */
  noMatch: (
    tgt: unknown,
    { reason, invalid }: { readonly reason?: string | undefined; readonly invalid?: string } = {},
  ) => ({
    enc: 'clear',
    load: {
      jid: null,
      minions: [],
      error: `Master could not resolve minions for target ${valueText(tgt)}`,
      ...(reason !== undefined && { reason }),
      ...(invalid !== undefined && { invalid }),
    },
  }),
  /**
   * The request is refused. Additions of salt-ts: `reason`, a sentence; `rule`, the rule that refuses it; `denied` if the user
   * is authenticated, but not authorised; `retry_after`, in seconds, if the credentials were not checked.
   */
  failed: (
    name: string,
    message: string,
    more: {
      readonly reason?: string
      readonly rule?: string
      readonly denied?: true
      readonly retry_after?: number
    } = {},
  ) => ({ error: { name, message, ...more } }),
} as const

/** Minions that would refuse a job, or one of its functions, and the reason. */
export interface Refusal {
  readonly minions: readonly string[]
  readonly reason: string
}
