import { isRecord } from '../base/record.ts'
import { decode, encodeNetwork } from '../codec/index.ts'
import { isSigningAlgorithm, type SigningAlgorithm } from '../crypto/index.ts'
import { asBytes } from './bytes.ts'

/** A job as it is published (wire protocol §9), in Salt's key names. */
export interface JobLoad {
  readonly fun: string | readonly string[]
  readonly arg: readonly unknown[]
  readonly tgt: unknown
  readonly jid: string
  readonly ret: string
  readonly tgt_type: string
  readonly user?: string
  readonly delimiter?: string
  readonly id?: string
  readonly master_id?: string
  readonly metadata?: unknown
  readonly ret_config?: unknown
  readonly ret_kwargs?: unknown
  readonly module_executors?: unknown
  readonly executor_opts?: unknown
  /**
   * Until when minions of salt-ts may take the job, in seconds since 1970. They ask the master before they begin it (see
   * take-job.ts). An addition of salt-ts, which others ignore.
   */
  readonly deliver_until?: number
  /** The cluster of the master that published it: each master of it takes the return. An addition of salt-ts. */
  readonly cluster_id?: string
  readonly [extra: string]: unknown
}

/** Return the fields of a job that say which master publishes it. */
export const publishedBy = ({
  cluster_id,
  master_id,
  id,
}: {
  readonly cluster_id: string | undefined
  readonly master_id: string | undefined
  readonly id: string
}): Pick<JobLoad, 'master_id' | 'cluster_id'> => ({
  ...(cluster_id !== undefined && { cluster_id, master_id: master_id ?? id }),
  ...(master_id !== undefined && { master_id }),
})

/** Return `deliver_until`, in seconds since 1970, for a moment in milliseconds. */
export const deliverUntil = ({ untilMs }: { readonly untilMs: number }): Pick<JobLoad, 'deliver_until'> => ({
  deliver_until: untilMs / 1000,
})

/** Optional keys in the order in which Salt's masters send them; `tgt_type` and `user` have their places among them. */
const OPTIONAL_KEYS = [
  'master_id',
  'delimiter',
  'id',
  'tgt_type',
  'to',
  'ret_config',
  'metadata',
  'module_executors',
  'executor_opts',
  'ret_kwargs',
  'user',
  'auth_list',
  'deliver_until',
  'cluster_id',
] as const

/** Make the load of a publication from the fields of a job. */
export function makeJobLoad(job: Readonly<Record<string, unknown>>): JobLoad {
  const { fun, arg, tgt, jid, ret } = job
  const load: Record<string, unknown> = { fun, arg, tgt, jid, ret: ret ?? '' }
  for (const key of OPTIONAL_KEYS) {
    if (job[key] !== undefined && !(key === 'delimiter' && job[key] === ':')) load[key] = job[key]
  }
  return load as unknown as JobLoad
}

/** Read the job in a decrypted publication; undefined if a required member is missing or has the wrong type. */
export function readJobLoad(load: Readonly<Record<string, unknown>>): JobLoad | undefined {
  const { fun, arg, tgt, jid } = load
  const funs = Array.isArray(fun) ? fun : [fun]
  if (!funs.length || !funs.every((name) => typeof name === 'string')) return undefined
  if (typeof jid !== 'string' || !Array.isArray(arg) || tgt === undefined) return undefined
  return {
    ...load,
    ...(load.ret === undefined && { ret: '' }),
    ...(load.tgt_type === undefined && { tgt_type: 'glob' }),
  } as unknown as JobLoad
}

export interface Sealed {
  /** The encrypted load. */
  readonly load: Buffer
  readonly signature?: { readonly algorithm: SigningAlgorithm; readonly value: Buffer }
}

/**
 * The outer map of a publication: the encrypted load, and its signature. The arguments as they were typed are a separate
 * message beside it, which Python minions ignore. Inside the load they would be passed to functions as `__pub_<key>`.
 */
export interface Publication extends Sealed {
  readonly words?: Sealed
}

export function packPublication({ words, ...job }: Publication): Buffer {
  return encodeNetwork({ enc: 'aes', ...packSealed(job), ...(words && { words: packSealed(words) }) })
}

const packSealed = ({ load, signature }: Sealed) => ({
  load,
  sig_algo: signature?.algorithm,
  sig: signature?.value,
})

/** Read a publication; undefined if it is malformed or not encrypted. */
export function readPublication(frame: Uint8Array): Publication | undefined {
  let outer: unknown
  try {
    outer = decode(frame)
  } catch {
    return undefined
  }
  if (!isRecord(outer) || outer.enc !== 'aes') return undefined
  const sealed = readSealed(outer)
  const words = isRecord(outer.words) ? readSealed(outer.words) : undefined
  return sealed && { ...sealed, ...(words && { words }) }
}

function readSealed(map: Readonly<Record<string, unknown>>): Sealed | undefined {
  const load = asBytes(map.load)
  if (!load) return undefined
  const value = asBytes(map.sig)
  if (!value) return { load }
  const algorithm = map.sig_algo ?? 'PKCS1v15-SHA1'
  return isSigningAlgorithm(algorithm) ? { load, signature: { algorithm, value } } : { load }
}
