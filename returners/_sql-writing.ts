import type { Returner, ReturnRecord } from 'salt-ts'
import type { SqlDatabase, SqlDialect } from './_sql-database.ts'
import { loadOf, tagText, withMinions } from './_sql-rows.ts'

/** Number of locks for returns. A transaction locks the shares of its returns: few locks, and rarely a conflict. */
const SHARES = 64

type Writing = Pick<Returner, 'save' | 'saveLoad' | 'saveMinions' | 'saveEvents'> &
  Required<Pick<Returner, 'saveBatch'>>

/** `masterId` is the id recorded with events. */
export function sqlWriting(
  { query, transaction }: SqlDatabase,
  { columns, json, exactId, unlessThere, forUpdate, lock }: SqlDialect,
  masterId: string,
): Writing {
  const names = Object.keys(columns).map((name) => `"${name}"`)
  const cells = Object.values(columns)

  /** Replace returns. Salt's table has no unique key, and an earlier attempt may still be running, so locks prevent duplicates. */
  const saveBatch = (rets: readonly ReturnRecord[]) =>
    transaction(async (query) => {
      await lock?.(query, sharesOf(rets))
      const missing = rets.filter(({ state }) => state !== undefined)
      const there =
        missing.length > 0
          ? await query(`select jid, id from salt_returns ${thoseOf(missing)}`, valuesOf(missing))
          : []
      const returned = new Set(there.map(keyOf))
      const written = rets.filter((ret) => ret.state === undefined || !returned.has(keyOf(ret)))
      if (written.length === 0) return
      await query(`delete from salt_returns ${thoseOf(written)}`, valuesOf(written))
      await query(
        `insert into salt_returns (${names.join(', ')}) values ${rowsOf(marks(cells.length), written.length)}`,
        written.flatMap((ret) => cells.map((cell) => cell(ret))),
      )
    })

  /** Return the condition for these returns; {@link valuesOf} has its values. */
  function thoseOf(rets: readonly ReturnRecord[]): string {
    const same = [...idsByJid(rets).values()].map((ids) => `jid = ? and ${exactId} in ${marks(ids.length)}`)
    return `where ${same.join(' or ')}`
  }

  return {
    save: (ret) => saveBatch([ret]),
    saveBatch,

    async saveLoad(job) {
      const values = [job.jid, json(withMinions(job))]
      await query(`insert into jids (jid, "load") values (?, ?) ${unlessThere}`, values)
    },

    saveMinions: (jid, minions) =>
      transaction(async (query) => {
        const [row] = await query(`select jid, "load" from jids where jid = ? ${forUpdate}`, [jid])
        if (row === undefined) return
        const job = loadOf(row)
        const expected = [...new Set([...job.minions, ...minions])]
        const load = json(withMinions({ ...job, minions: expected }))
        await query('update jids set "load" = ? where jid = ?', [load, jid])
      }),

    saveEvents: (events, batch) =>
      transaction(async (query) => {
        const written = await query('select batch from salt_event_batches where batch = ?', [batch])
        if (written.length > 0) return
        await query('insert into salt_event_batches (batch) values (?)', [batch])
        await query(
          `insert into salt_events (tag, data, master_id) values ${rowsOf('(?, ?, ?)', events.length)}`,
          events.flatMap(({ tag, data }) => [tagText(tag), json(data), masterId]),
        )
      }),
  }
}

const valuesOf = (rets: readonly ReturnRecord[]): string[] => [...idsByJid(rets)].flat(2)

const keyOf = ({ jid, id }: { readonly jid?: unknown; readonly id?: unknown }): string => `${jid} ${id}`

function idsByJid(rets: readonly ReturnRecord[]): Map<string, string[]> {
  const idsOf = new Map<string, string[]>()
  for (const { jid, id } of rets) {
    const ids = idsOf.get(jid)
    if (ids) ids.push(id)
    else idsOf.set(jid, [id])
  }
  return idsOf
}

function sharesOf(rets: readonly ReturnRecord[]): number[] {
  return [...new Set(rets.map(({ jid, id }) => hash(`${jid} ${id}`) % SHARES))].sort((a, b) => a - b)
}

/** Bernstein's hash function. */
function hash(text: string): number {
  let sum = 5381
  for (let n = 0; n < text.length; n++) sum = ((sum * 33) ^ text.charCodeAt(n)) >>> 0
  return sum
}

const marks = (count: number): string => `(${rowsOf('?', count)})`
const rowsOf = (row: string, count: number): string => Array(count).fill(row).join(', ')
