import { isRecord } from './bytes.ts'
import type { Via } from './via.ts'

const ACTS = ['login', 'logout', 'publish', 'runner', 'wheel', 'request'] as const

/** What a server of the API has refused by itself, as it tells its master. Strangers choose its texts: they are short. */
export interface ApiRefusal {
  /** `request` where nobody has looked at what was wanted. */
  readonly act: (typeof ACTS)[number]
  /** Who they say they are. */
  readonly user: string
  /** Method and route. */
  readonly request: string
  readonly fun?: string | undefined
  /** The setting that refuses it. */
  readonly rule?: string | undefined
  /** A sentence. */
  readonly reason: string
  readonly via: Via
  /** So many before it were not told, since there were too many. */
  readonly leftOut?: number
}

const MOST_CHARACTERS = 512

/** Undefined if it is none. */
export function readApiRefusal(load: Readonly<Record<string, unknown>>): ApiRefusal | undefined {
  const act = ACTS.find((one) => one === load.act)
  const text = (name: string): string => {
    const value = load[name]
    return typeof value === 'string' ? value.slice(0, MOST_CHARACTERS) : ''
  }
  if (!act || !isRecord(load.via)) return undefined
  const { leftOut } = load
  return {
    ...{ act, user: text('user'), request: text('request'), reason: text('reason') },
    ...{ fun: text('fun') || undefined, rule: text('rule') || undefined },
    via: { address: typeof load.via.address === 'string' ? load.via.address : '' },
    ...(typeof leftOut === 'number' && leftOut > 0 && { leftOut: Math.trunc(leftOut) }),
  }
}
