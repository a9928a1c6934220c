/**
 * Keeps returns and jobs as points of InfluxDB 1, in Salt's form. A point has the time of its job id, so that a rewrite replaces
 * it. The retention policy of the database deletes old points.
 */
import { fromRecordJson, type LoadRecord, p, type ReturnRecord, recordJson, returner } from 'salt-ts'
import { httpOptions } from './_http.ts'
import { influxClient } from './_influx-client.ts'
import { type Point, timeOf } from './_influx-line.ts'
import { portNumber } from './_options.ts'

type Row = Readonly<Record<string, unknown>>

/** Jobs per query. */
const PAGE = 500

export default returner({
  options: {
    host: p.default(p.string({ minLength: 1 }), 'localhost'),
    port: p.default(portNumber, 8086),
    db: p.default(p.string({ minLength: 1 }), 'salt'),
    user: p.default(p.string(), 'salt'),
    password: p.default(p.secret(p.string()), 'salt'),
    ...httpOptions,
  },
  async create({ options }) {
    const influx = await influxClient(options)

    async function* getJids(filterFindJob = false): AsyncGenerator<LoadRecord> {
      for (let from = 0; ; from += PAGE) {
        const rows = await influx.query(
          `SELECT jid, "load", minions FROM jids ORDER BY time DESC LIMIT ${PAGE} OFFSET ${from}`,
        )
        for (const job of rows.map(jobOf))
          if (!filterFindJob || job.load.fun !== 'saltutil.find_job') yield job
        if (rows.length < PAGE) return
      }
    }

    return {
      save: (ret) => influx.write([pointOf(ret)]),
      saveBatch: (rets) => influx.write(rets.map(pointOf)),
      saveLoad: ({ jid, load, minions }) =>
        influx.write([
          {
            measurement: 'jids',
            tags: { jid },
            fields: { load: recordJson(load), minions: recordJson(minions) },
            time: timeOf(jid),
          },
        ]),
      async getLoad(jid) {
        const rows = await influx.query('SELECT jid, "load", minions FROM jids WHERE jid = $jid', { jid })
        const last = rows.at(-1)
        return last && jobOf(last)
      },
      /** Return the returns of a job. Python writes another point for each repeat; the newest one is used. */
      async getJid(jid) {
        const rows = await influx.query(
          'SELECT id, jid, fun, "return", full_ret FROM returns WHERE jid = $jid',
          { jid },
        )
        return [...new Map(rows.map((row) => [row.id, returnOf(row)])).values()]
      },
      async getFun(fun) {
        const rows = await influx.query(
          'SELECT last(full_ret) AS full_ret, "return", jid, fun FROM returns WHERE fun = $fun GROUP BY id',
          { fun },
        )
        return rows.map(returnOf)
      },
      getJids: () => getJids(),
      async getJidsFilter(count, filterFindJob) {
        const found: LoadRecord[] = []
        for await (const job of getJids(filterFindJob)) {
          if (found.length >= count) break
          found.push(job)
        }
        return found
      },
      async getMinions() {
        const rows = await influx.query('SHOW TAG VALUES FROM returns WITH KEY = id')
        return rows.map(({ value }) => String(value))
      },
      async remove(jid) {
        for (const measurement of ['returns', 'jids'])
          await influx.query(`DELETE FROM ${measurement} WHERE jid = $jid`, { jid }, 'POST')
      },
      async migrate() {
        try {
          await influx.query('SELECT jid, "load" FROM jids LIMIT 1')
          return []
        } catch (error) {
          if (!(error as Error).message.includes('database not found')) throw error
        }
        await influx.query(`CREATE DATABASE "${options.db.replace(/["\\]/g, '\\$&')}"`, {}, 'POST')
        return [`Created the database ${options.db}.`]
      },
      close: influx.close,
    }
  },
})

function pointOf(ret: ReturnRecord): Point {
  const { jid, id, fun, return: value, ...rest } = ret
  return {
    measurement: 'returns',
    tags: { fun: String(fun), id, jid },
    fields: { return: recordJson(value), full_ret: recordJson({ jid, id, fun, ...rest }) },
    time: timeOf(jid),
  }
}

const jobOf = ({ jid, load, minions }: Row): LoadRecord => ({
  jid: String(jid),
  load: fromRecordJson(String(load)) as LoadRecord['load'],
  minions: typeof minions === 'string' ? (fromRecordJson(minions) as string[]) : [],
})

const returnOf = ({ full_ret, return: value }: Row): ReturnRecord =>
  ({
    ...(fromRecordJson(String(full_ret)) as Omit<ReturnRecord, 'return'>),
    return: fromRecordJson(String(value)),
  }) as ReturnRecord
