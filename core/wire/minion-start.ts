import { randomBytes } from 'node:crypto'
import { isRecord } from '../base/record.ts'
import { asNumber, asText } from './bytes.ts'

/**
 * A start of a minion, reported to its master before the minion accepts jobs, so that the master can distinguish two minions
 * with one id from a minion that was restarted. Salt has no such message.
 */
export interface MinionStart {
  /** Six characters of base64url, random for each start: a secret of this minion and its master. */
  readonly token: string
  /** The local address from which it reaches the master, if known. */
  readonly address: string
  readonly host: string
  readonly pid: number
  /** It is a syndic: it gets the job of every target, for the minions below it. */
  readonly syndic?: boolean
}

const TOKEN_CHARACTERS = 6
const TOKEN = /^[\w-]{6}$/
const SHOWN = /^[\w.:%-]{1,255}$/

export const newStartToken = (): string =>
  randomBytes(TOKEN_CHARACTERS).toString('base64url').slice(0, TOKEN_CHARACTERS)

/**
 * Make the report of a start: a request that every master answers, since Python Salt logs an error for an unknown
 * command.
 */
export const makeStartReport = (
  id: string,
  { token, address, host, pid, syndic }: MinionStart,
): Record<string, unknown> => ({
  cmd: '_master_opts',
  id,
  env_only: true,
  start: { token, address, host, pid, ...(syndic && { syndic }) },
})

/** Read the report of a start; undefined if there is none, or it is malformed. */
export function readStartReport(load: Readonly<Record<string, unknown>>): MinionStart | undefined {
  if (!isRecord(load.start)) return undefined
  const [token, address, host] = [load.start.token, load.start.address, load.start.host].map((text) =>
    asText(text, 255),
  )
  const pid = asNumber(load.start.pid)
  if (!token || !TOKEN.test(token) || !address || !host || pid === undefined) return undefined
  if (![address, host].every((text) => SHOWN.test(text)) || !Number.isSafeInteger(pid)) return undefined
  return { token, address, host, pid, ...(load.start.syndic === true && { syndic: true }) }
}

/** Most milliseconds over which a master wants its minions to spread when they reconnect. */
export const MAX_RECONNECT_MS = 30_000

/** The answer of a master of salt-ts to the report of a start. Nothing is read from the answer of a master of Python Salt. */
export interface StartAnswer {
  /** Why the minion must not accept jobs: another one with its id does. */
  readonly refused?: string | undefined
  /** Whether the master gives missed jobs (`_missed_jobs`), and signs what it publishes. */
  readonly missedJobs?: 'signed' | 'unsigned' | undefined
  /** Whether the master has no grains of the minion, as after its cache was removed: a minion that runs already reports them again. */
  readonly lacksGrains?: boolean | undefined
  /** Milliseconds over which the minions of this master are to spread when they reconnect to it. */
  readonly reconnectMs?: number | undefined
  /** Whether the master is one of syndics (`order_masters`), and takes their reports (`core/wire/syndic.ts`). */
  readonly takesSyndics?: boolean | undefined
  /** The cluster of masters that it belongs to (`cluster_id`). */
  readonly cluster?: string | undefined
}

export const makeStartAnswer = ({
  refused,
  missedJobs,
  lacksGrains,
  reconnectMs,
  takesSyndics,
  cluster,
}: StartAnswer): Record<string, unknown> => ({
  ...(refused !== undefined && { start_refused: refused }),
  ...(missedJobs && { missed_jobs: missedJobs }),
  ...(lacksGrains && { lacks_grains: true }),
  ...(reconnectMs !== undefined && { reconnect_ms: reconnectMs }),
  ...(takesSyndics && { takes_syndics: true }),
  ...(cluster !== undefined && { cluster_id: cluster }),
})

export function readStartAnswer(answer: unknown): StartAnswer {
  if (!isRecord(answer)) return {}
  const { missed_jobs: missedJobs } = answer
  const reconnectMs = asNumber(answer.reconnect_ms)
  return {
    refused: asText(answer.start_refused, 1000),
    missedJobs: missedJobs === 'signed' || missedJobs === 'unsigned' ? missedJobs : undefined,
    ...(answer.lacks_grains === true && { lacksGrains: true }),
    reconnectMs: Number.isFinite(reconnectMs) ? reconnectMs : undefined,
    ...(answer.takes_syndics === true && { takesSyndics: true }),
    cluster: asText(answer.cluster_id, 255),
  }
}
