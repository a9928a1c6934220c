import { isJid } from '../base/jid.ts'
import { isMinionId, type MinionId } from '../base/minion-id.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { asText } from './bytes.ts'

/** Returns of one job that a syndic passes on to the master above it (wire protocol §16). */
export interface SyndicReturn {
  readonly jid: string
  /** The id that the syndic gives itself; only in generation 2 nothing else says who it is. */
  readonly syndic?: string | undefined
  readonly fun: unknown
  /** The job as the master below stored it; undefined if the master above has it. */
  readonly load?: Fields | undefined
  /** What each minion returned, by its id: `return`, and as far as they are known `retcode`, `success`, `fun_args`, `out`. */
  readonly returns: ReadonlyMap<MinionId, Fields>
  /** Id of the master that published the job. */
  readonly masterId?: string | undefined
}

/** Members of a return that a syndic passes on. Salt's syndics send the first four. */
const MEMBERS = ['return', 'retcode', 'success', 'fun_args', 'out', 'metadata', 'user'] as const

/** Make `_syndic_return` with the returns of several jobs. `id` is that of the syndic. */
export const makeSyndicReturn = (id: string, jobs: readonly SyndicReturn[]): Record<string, unknown> => ({
  cmd: '_syndic_return',
  id,
  load: jobs.map(({ jid, fun, load, returns, masterId }) => ({
    id,
    jid,
    fun,
    arg: null,
    tgt: null,
    tgt_type: null,
    load: load ?? {},
    return: Object.fromEntries(Array.from(returns, ([minion, ret]) => [minion, withMembers(ret)])),
    ...(masterId !== undefined && { master_id: masterId }),
  })),
})

const withMembers = (ret: Fields): Fields =>
  Object.fromEntries(MEMBERS.filter((key) => ret[key] !== undefined).map((key) => [key, ret[key]]))

/** Read `_syndic_return`; older syndics send the returns of one job without the list. Malformed parts are left out. */
export function readSyndicReturn(load: Fields): SyndicReturn[] {
  const jobs = Array.isArray(load.load) ? load.load : [load]
  return jobs.filter(isRecord).flatMap((job): SyndicReturn[] => {
    const { jid, fun, load: stored, return: given, master_id } = job
    if (!isJid(jid) || !isRecord(given)) return []
    const returns = new Map<MinionId, Fields>()
    for (const [id, ret] of Object.entries(given))
      if (isMinionId(id) && isRecord(ret) && 'return' in ret) returns.set(id, withMembers(ret))
    const isKnown = isRecord(stored) && Object.keys(stored).length > 0
    return [
      {
        jid,
        syndic: asText(job.id, 255),
        fun,
        returns,
        ...(isKnown && { load: stored }),
        masterId: asText(master_id, 255),
      },
    ]
  })
}

/**
 * Whom a syndic speaks for in a job: all of it each time, so that it may be said again. An addition of salt-ts; Salt's syndics fire
 * the event `<jid>` with `minions` on the master above.
 */
export interface SyndicReport {
  readonly jid: string
  readonly minions: readonly string[]
  /** Members of `minions` that the target may not match. */
  readonly unknown: readonly string[]
  /** Members of `minions` that are away, and get the job later (`deliver_within`). */
  readonly waiting: readonly string[]
  /** Syndics below that have not said yet whom they speak for. */
  readonly awaits: readonly string[]
}

/** Most ids in a report. */
const MAX_IDS = 1_000_000

export const makeSyndicReport = (id: string, report: SyndicReport): Record<string, unknown> => ({
  cmd: SYNDIC_REPORT,
  id,
  ...report,
})

export const SYNDIC_REPORT = '_syndic_minions'

/** Read a report; undefined if it is malformed. */
export function readSyndicReport(load: Fields): SyndicReport | undefined {
  const { jid } = load
  const [minions, unknown, waiting, awaits] = [load.minions, load.unknown, load.waiting, load.awaits].map(
    idsIn,
  )
  return isJid(jid) && minions && unknown && waiting && awaits
    ? { jid, minions, unknown, waiting, awaits }
    : undefined
}

const idsIn = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length <= MAX_IDS && value.every(isMinionId) ? value : undefined
