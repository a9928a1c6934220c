import { randomBytes } from 'node:crypto'
import { asNumber, asText, isRecord } from './bytes.ts'

/**
 * One run of a minion, reported to its master before it takes jobs, so that two minions with one id can be told from one that
 * was started again. Salt has no such message.
 */
export interface MinionStart {
  /** Sixteen hex digits, new with each run. */
  readonly token: string
  /** The address that it reaches the master from, as far as it knows. */
  readonly address: string
  readonly host: string
  readonly pid: number
}

const TOKEN = /^[0-9a-f]{16}$/
const SHOWN = /^[\w.:%-]{1,255}$/

export const newStartToken = (): string => randomBytes(8).toString('hex')

/** Report a run with a request that every master answers: Python Salt logs an error for a command it does not know. */
export const makeStartReport = (
  id: string,
  { token, address, host, pid }: MinionStart,
): Record<string, unknown> => ({
  cmd: '_master_opts',
  id,
  env_only: true,
  start: { token, address, host, pid },
})

/** Undefined if there is none that can be read. */
export function readStartReport(load: Readonly<Record<string, unknown>>): MinionStart | undefined {
  if (!isRecord(load.start)) return undefined
  const [token, address, host] = [load.start.token, load.start.address, load.start.host].map((text) =>
    asText(text, 255),
  )
  const pid = asNumber(load.start.pid)
  if (!token || !TOKEN.test(token) || !address || !host || pid === undefined) return undefined
  if (![address, host].every((text) => SHOWN.test(text)) || !Number.isSafeInteger(pid)) return undefined
  return { token, address, host, pid }
}

/** Answer a minion that must not take jobs, because another one with its id does. */
export const startRefused = (why: string) => ({ start_refused: why })
export const readStartRefusal = (answer: unknown): string | undefined =>
  isRecord(answer) ? asText(answer.start_refused, 1000) : undefined
