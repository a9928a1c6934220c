/** What minions ask of others by way of the master: `minion_pub`, `minion_publish`, `minion_runner` (wire protocol §7.2). */
import { asNumber } from './bytes.ts'

export interface PeerPublish {
  readonly fun: string | readonly string[]
  /** One list for each of several functions. */
  readonly arg: readonly unknown[]
  readonly tgt: unknown
  readonly tgtType: string
  readonly ret: string
  /** Keywords whose values stay text. */
  readonly noParse: readonly string[]
  /** Seconds to wait, of `minion_publish`. */
  readonly timeout: number | undefined
  /** The whole returns are wanted. */
  readonly full: boolean
  /** The sender is told why it is refused. A field of our own. */
  readonly explain: boolean
}

export type PeerRun = Pick<PeerPublish, 'arg' | 'noParse' | 'explain'> & { readonly fun: string }

type Load = Readonly<Record<string, unknown>>

/** Seconds, where none are named. */
const TIMEOUT = 5

/** Undefined if what it must have is missing or of the wrong kind. */
export function readPeerPublish(load: Load): PeerPublish | undefined {
  const { tgt, tgt_type = 'glob', ret = '', form, timeout = load.tmo ?? TIMEOUT } = load
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

/** Of several functions each entry is the arguments of one: words, or a list. */
function wordsOf(entry: unknown): readonly unknown[] {
  if (typeof entry === 'string') return entry.split(/\s+/).filter((word) => word !== '')
  return Array.isArray(entry) ? entry : []
}
