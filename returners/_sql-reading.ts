import type { LoadRecord, Returner } from 'salt-ts'
import { firstJobs } from './_jobs.ts'
import type { SqlDatabase, SqlDialect } from './_sql-database.ts'
import { funText, loadOf } from './_sql-rows.ts'

/** Jobs read at once. */
const PAGE = 500

type Reading = Pick<Returner, 'getLoad' | 'getJid' | 'getFun' | 'getJids' | 'getJidsFilter' | 'getMinions'>

export function sqlReading({ query }: SqlDatabase, { time, read, returnOf, exactId }: SqlDialect): Reading {
  const columns = read.map((name) => `salt_returns.${name}`).join(', ')

  /** Yield the jobs, newest first by job id: it is a time and the key, and Salt's table has no time column. */
  async function* newest(atFirst: number): AsyncGenerator<LoadRecord> {
    let rows = await query(`select jid, "load" from jids order by jid desc limit ${atFirst}`)
    while (rows.length > 0) {
      yield* rows.map(loadOf)
      const last = rows.at(-1)?.jid ?? null
      rows = await query(`select jid, "load" from jids where jid < ? order by jid desc limit ${PAGE}`, [last])
    }
  }

  return {
    async getLoad(jid) {
      const [row] = await query('select jid, "load" from jids where jid = ?', [jid])
      return row && loadOf(row)
    },

    /** Return the returns of a job. Of duplicates, which Python may write, the last counts. */
    async getJid(jid) {
      const rows = await query(`select ${columns} from salt_returns where jid = ? order by ${time}`, [jid])
      return lastOfEach(rows.map(returnOf))
    },

    async getFun(fun) {
      const newest = `select ${exactId} as minion, max(jid) as jid from salt_returns where fun = ? group by minion`
      const rows = await query(
        `select ${columns} from salt_returns join (${newest}) newest
        on newest.jid = salt_returns.jid and newest.minion = ${exactId} where fun = ? order by ${time}`,
        [funText(fun), funText(fun)],
      )
      return lastOfEach(rows.map(returnOf).filter((ret) => String(ret.fun) === fun))
    },

    getJids: () => newest(PAGE),

    getJidsFilter: (count, filterFindJob) =>
      firstJobs(newest(Math.min(Math.max(count, 1), PAGE)), count, filterFindJob),

    async getMinions() {
      const rows = await query(`select distinct ${exactId} as id from salt_returns order by id`)
      return rows.map(({ id }) => String(id))
    },
  }
}

const lastOfEach = <R extends { readonly id: string }>(rets: readonly R[]): R[] => [
  ...new Map(rets.map((ret) => [ret.id, ret])).values(),
]
