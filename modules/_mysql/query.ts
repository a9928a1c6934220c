import { readFile } from 'node:fs/promises'
import type { Context } from 'salt-ts'
import { floatText } from '#internal'
import type { Place } from './connect.ts'
import { type Answer, type Session, withMysql } from './session.ts'
import { statementsIn } from './statements.ts'

/** Return the result of a statement in Salt's form, with all values as text. {} if the server cannot be reached. */
export function queryResult(database: string, sql: string, place: Place, context: Context) {
  return withDatabase(database, place, context, async (session) => {
    const { seconds, answer } = await timed(session, sql)
    const time = { 'query time': { human: human(seconds), raw: floatText(rounded(seconds, 5)) } }
    if (!returnsRows(sql)) return { ...time, 'rows affected': answer.affected }
    const { columns, rows } = answer
    return { ...time, 'rows returned': rows.length, columns, results: rows }
  })
}

/** Run the statements of a file on one connection, and return the sums and the rows. False if one fails. */
export async function fileResult(database: string, path: string, place: Place, context: Context) {
  const script = await readFile(path, 'utf8').catch(() => undefined)
  if (script === undefined) {
    context.log.error(`File "${path}" does not exist`)
    return false
  }
  return withDatabase(database, place, context, async (session) => {
    const all = { seconds: 0, returned: 0, affected: 0, columns: [] as unknown[], results: [] as unknown[] }
    for (const sql of statementsIn(script)) {
      const { seconds, answer } = await timed(session, sql)
      all.seconds += seconds
      if (!returnsRows(sql)) all.affected += answer.affected
      else {
        all.returned += answer.rows.length
        all.columns.push(answer.columns)
        all.results.push(answer.rows)
      }
    }
    return {
      ...(all.returned > 0 && { 'rows returned': all.returned }),
      ...(all.columns.length > 0 && { columns: all.columns, results: all.results }),
      ...(all.affected > 0 && { 'rows affected': all.affected }),
      'query time': { raw: rounded(all.seconds, 5), human: `${floatText(rounded(all.seconds, 2))}s` },
    }
  })
}

/** The result is {} if the server cannot be reached, and false if it refuses a statement. */
async function withDatabase<T>(
  database: string,
  place: Place,
  context: Context,
  work: (session: Session) => Promise<T>,
) {
  let isReached = false
  const there = { ...place, connection_db: database }
  const result = await withMysql(
    there,
    context,
    undefined,
    (session) => {
      isReached = true
      return work(session)
    },
    true,
  )
  return result ?? (isReached ? false : {})
}

async function timed(session: Session, sql: string): Promise<{ seconds: number; answer: Answer }> {
  const start = process.hrtime.bigint()
  const answer = await session.run(sql)
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, answer }
}

const returnsRows = (sql: string): boolean => /^\s*(?:select|show|desc)/i.test(sql)

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

const human = (seconds: number): string =>
  seconds < 0.2 ? `${floatText(rounded(seconds * 1000, 1))}ms` : `${floatText(rounded(seconds, 2))}s`
