import { isRecord } from '../base/record.ts'
import type { Via } from './via.ts'

const ACTS = ['login', 'logout', 'publish', 'runner', 'wheel', 'request'] as const

/**
 * A request that an API server has refused itself, reported to its master. Unauthenticated clients choose its texts, so
 * they are cut.
 */
export interface ApiRefusal {
  /** `request` if the server refused it before reading its purpose. */
  readonly act: (typeof ACTS)[number]
  /** The user name that the client claims. */
  readonly user: string
  /** Method and route. */
  readonly request: string
  readonly fun?: string | undefined
  /** The option that refuses it. */
  readonly rule?: string | undefined
  /** The reason, as a sentence. */
  readonly reason: string
  readonly via: Via
  /** Number of refusals before it that were not reported, since there were too many. */
  readonly leftOut?: number
}

const MAX_CHARACTERS = 512

/** Read a refusal; undefined if it is malformed. */
export function readApiRefusal(load: Readonly<Record<string, unknown>>): ApiRefusal | undefined {
  const act = ACTS.find((one) => one === load.act)
  const text = (name: string): string => {
    const value = load[name]
    return typeof value === 'string' ? value.slice(0, MAX_CHARACTERS) : ''
  }
  if (!act || !isRecord(load.via)) return undefined
  const { leftOut } = load
  return {
    act,
    user: text('user'),
    request: text('request'),
    reason: text('reason'),
    fun: text('fun') || undefined,
    rule: text('rule') || undefined,
    via: { address: typeof load.via.address === 'string' ? load.via.address : '' },
    ...(typeof leftOut === 'number' && leftOut > 0 && { leftOut: Math.trunc(leftOut) }),
  }
}
