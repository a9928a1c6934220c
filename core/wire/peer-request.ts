/**
 * Requests of minions to others through the master: `minion_pub`, `minion_publish`, `minion_runner` (wire protocol
 * §7.2).
 */
import { asNumber } from './bytes.ts'

export interface PeerPublish {
  readonly fun: string | readonly string[]
  /** The arguments; for several functions a list for each. */
  readonly arg: readonly unknown[]
  readonly tgt: unknown
  readonly tgtType: string
  readonly ret: string
  /** Keywords whose values stay text. */
  readonly noParse: readonly string[]
  /** Time to wait, in seconds, for `minion_publish`. */
  readonly timeout: number | undefined
  /** Whether to answer with complete returns, not only their values. */
  readonly full: boolean
  /** Whether to answer a refusal with its reason. An addition of salt-ts. */
  readonly explain: boolean
}

export type PeerRun = Pick<PeerPublish, 'arg' | 'noParse' | 'explain'> & { readonly fun: string }

type Load = Readonly<Record<string, unknown>>

const DEFAULT_TIMEOUT_SECONDS = 5

/** Read a request to publish; undefined if a required member is missing or has the wrong type. */
export function readPeerPublish(load: Load): PeerPublish | undefined {
  const { tgt, tgt_type = 'glob', ret = '', form, timeout = load.tmo ?? DEFAULT_TIMEOUT_SECONDS } = load
  const named = readPeerRun(load)
  if (!named || typeof tgt_type !== 'string' || typeof ret !== 'string') return undefined
  if (tgt === undefined || tgt === null) return undefined
  const { fun, arg } = named
  const funs = fun.split(',')
  const isOne = funs.length === 1
  return {
    ...named,
    fun: isOne ? fun : funs,
    arg: isOne ? arg : funs.map((_, index) => wordsOf(arg[index])),
    tgt,
    tgtType: tgt_type.startsWith('node') ? 'nodegroup' : tgt_type || 'glob',
    ret,
    timeout: asNumber(typeof timeout === 'string' && timeout.trim() !== '' ? Number(timeout) : timeout),
    full: form === 'full',
  }
}

export function readPeerRun({ fun, arg = [], no_parse, explain }: Load): PeerRun | undefined {
  if (typeof fun !== 'string' || fun === '' || fun.length > 256 || !Array.isArray(arg)) return undefined
  const noParse = Array.isArray(no_parse) ? no_parse.filter((name) => typeof name === 'string') : []
  return { fun, arg, noParse, explain: explain === true }
}

/** Return the arguments of one of several functions, given as words in a text or as a list. */
function wordsOf(entry: unknown): readonly unknown[] {
  if (typeof entry === 'string') return entry.split(/\s+/).filter((word) => word !== '')
  return Array.isArray(entry) ? entry : []
}
