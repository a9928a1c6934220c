import { MASK } from '../base/secret.ts'
import { asNumber, isRecord } from './bytes.ts'
import { type JobWords, readJobWords } from './typed-words.ts'

/** A local client's request to publish a job (wire protocol §8.1), read and checked. */
export interface PublishLoad {
  readonly tgt: unknown
  readonly tgtType: string
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  /** The arguments as they were typed, where that says more. Masters of Python Salt do not look at it. */
  readonly words?: JobWords | undefined
  readonly user: string
  readonly key: string
  readonly ret: string
  readonly jid: string
  readonly timeout: number | undefined
  readonly kwargs: Readonly<Record<string, unknown>>
  /** Refuse what no minion would run. A field of our own. */
  readonly check?: boolean
}

/** Name of the error where a check refuses a job. */
export const CALL_REFUSED = 'CallRefused'
/** Name of the error where nobody can make sense of the target of a plan. */
export const TARGET_INVALID = 'TargetInvalid'

/** Extras that say where returns go and by what functions are run. */
const STEERING = ['ret_config', 'ret_kwargs', 'module_executors', 'executor_opts'] as const

/** Extras of a publish request that are handed on to the minions. */
const PASSED_ON = ['delimiter', 'metadata', ...STEERING] as const

export function makePublish(request: PublishLoad): Record<string, unknown> {
  const { tgt, tgtType, fun, arg, user, key, ret, jid, timeout, kwargs, words, check } = request
  const load = { cmd: 'publish', tgt, fun, arg, key, tgt_type: tgtType, ret, jid, kwargs, user, timeout }
  return { ...load, ...(words && { words }), ...(check && { check }) }
}

/** Asks what would become of that. */
export const makePlanRequest = (request: PublishLoad): Record<string, unknown> => ({
  ...makePublish(request),
  cmd: '_plan',
})

/** Undefined if what every request must have is missing or of the wrong kind. */
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
    words: readJobWords(load.words),
    user,
    key: text('key'),
    ret: Array.isArray(load.ret) ? load.ret.join(',') : text('ret'),
    jid: text('jid'),
    timeout: asNumber(load.timeout),
    kwargs: isRecord(load.kwargs) ? load.kwargs : {},
    check: load.check === true,
  }
}

type Fields = Readonly<Record<string, unknown>>

/** What of the extras goes to the minions. A delimiter that is no text would mean other minions there than here. */
export function passedOn({ delimiter, ...kwargs }: Fields): Record<string, unknown> {
  const target = typeof delimiter === 'string' ? { delimiter } : {}
  return picked({ ...target, ...kwargs }, PASSED_ON, (value) => value !== undefined)
}

/** What of the extras says where returns go and by what functions are run; not what is empty. */
export const steeringOf = (kwargs: Fields): Record<string, unknown> => picked(kwargs, STEERING, isGiven)

/** The same as it may be shown: of maps, whose values may be secret, the names alone. */
export const shownSteering = (kwargs: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(steeringOf(kwargs)).map(([key, value]) => [key, withoutValues(value)]))

/** What a job asks for beside its functions, as it may be shown. */
export const shownOptions = ({
  ret,
  kwargs,
}: Pick<PublishLoad, 'ret' | 'kwargs'>): Record<string, unknown> => ({
  ...(ret !== '' && { ret }),
  ...shownSteering(kwargs),
})

function picked(kwargs: Fields, keys: readonly string[], isWanted: (value: unknown) => boolean) {
  return Object.fromEntries(keys.filter((key) => isWanted(kwargs[key])).map((key) => [key, kwargs[key]]))
}

/** Maps with other keys than text are no records, and are not empty. */
const isGiven = (value: unknown): boolean =>
  !(value === undefined || value === null || value === '' || value === false) &&
  !(Array.isArray(value) && value.length === 0) &&
  !(isRecord(value) && Object.keys(value).length === 0)

function withoutValues(value: unknown): unknown {
  if (isRecord(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, MASK]))
  return [value].flat().every((each) => typeof each === 'string') ? value : MASK
}

/** Answers of the master (wire protocol §8.1). */
export const publishReplies = {
  /** `unknown`, who is perhaps not meant, and `refusals` are fields of our own. */
  published: (
    jid: string,
    {
      minions,
      missing,
      unknown = [],
      refusals = [],
    }: Readonly<Record<'minions' | 'missing', readonly string[]>> & {
      readonly unknown?: readonly string[] | undefined
      readonly refusals?: readonly object[] | undefined
    },
  ) => ({
    enc: 'clear',
    load: {
      jid,
      minions,
      missing,
      ...(unknown.length > 0 && { unknown }),
      ...(refusals.length > 0 && { refusals }),
    },
  }),
  /** Of our own: `reason`, why it is nobody; `invalid`, why nobody can make sense of the target. */
  noMatch: (
    tgt: unknown,
    { reason, invalid }: { readonly reason?: string | undefined; readonly invalid?: string } = {},
  ) => ({
    enc: 'clear',
    load: {
      jid: null,
      minions: [],
      error: `Master could not resolve minions for target ${typeof tgt === 'string' ? tgt : JSON.stringify(tgt)}`,
      ...(reason !== undefined && { reason }),
      ...(invalid !== undefined && { invalid }),
    },
  }),
  /** Of our own: `reason`, a sentence; `rule`, which it is by; `denied` where somebody is known, but may not do it;
   *  `retry_after`, seconds, where nobody looked at who it is. */
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
