/** What the ledger of a minion holds, and what its functions return: shared by the module and by the oracle. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'

export interface Entry {
  readonly jid: string
  readonly id: string
  readonly what: 'begin' | 'end'
  /** Milliseconds of the clock that all processes of a host share and that nobody sets. */
  readonly at: number
}

export const ledgerOf = (directory: string): string => join(directory, 'ledger')

/** Milliseconds since the host was started. */
export const hostTime = (): number => Number(process.hrtime.bigint() / 1_000_000n)

export const lineOf = ({ jid, id, what, at }: Entry): string => `${jid} ${id} ${what} ${at}\n`

export function entriesIn(text: string): Entry[] {
  return text
    .split('\n')
    .map((line) => line.split(' '))
    .filter((words) => words.length === 4)
    .map(([jid = '', id = '', what, at]) => ({ jid, id, what: what as Entry['what'], at: Number(at) }))
}

/** The one right return of a job on a minion: it names both, and no other has the same bytes. */
export function returnOf(jid: string, id: string, bytes: number): string {
  const name = `${jid} ${id} `
  const filling = createHash('sha256').update(name).digest('hex')
  return name + filling.repeat(Math.ceil(bytes / filling.length)).slice(0, bytes)
}
