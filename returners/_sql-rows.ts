/** Conversion between records and rows of Salt's tables, written by salt-ts or by Python Salt. */
import { fromRecordJson, type LoadRecord, type ReturnRecord } from 'salt-ts'
import { type Fields, isRecord } from './_fields.ts'
import type { SqlRow } from './_sql-database.ts'

/** Widths of Salt's columns, in characters. The JSON column has values that are cut here in full. */
const FUN_WIDTH = 50
const TAG_WIDTH = 255

/** Return the functions of a job as one text: `test.ping,test.version`. */
export const funText = (fun: ReturnRecord['fun']): string => cut([fun].flat().join(','), FUN_WIDTH)

export const tagText = (tag: string): string => cut(tag, TAG_WIDTH)

const cut = (text: string, width: number): string =>
  text.length <= width ? text : [...text].slice(0, width).join('')

/** Return the load with the job's minions as `Minions`, as in Salt's own job cache. */
export const withMinions = ({ load, minions }: LoadRecord): Fields => ({ ...load, Minions: minions })

export function loadOf(row: SqlRow): LoadRecord {
  const { Minions, ...load } = mapOf(row.load)
  const minions = Array.isArray(Minions) ? Minions.filter((id) => typeof id === 'string') : []
  return { jid: String(row.jid), load, minions }
}

/** Columns of salt_returns to read; full_ret has everything else. */
export const RETURN_COLUMNS = ['jid', 'id', 'fun', 'success', 'full_ret']

/** Restore a return from a row with `RETURN_COLUMNS`. */
export const returnOf = (row: SqlRow): ReturnRecord => ({
  fun: row.fun ?? '',
  fun_args: [],
  ...succeeded(row),
  return: null,
  ...mapOf(row.full_ret),
  jid: String(row.jid),
  id: String(row.id),
})

/** Read the column success, which has true or 1. */
export function succeeded({ success }: SqlRow): { success: boolean; retcode: number } {
  const good = /^(?:true|1)$/i.test(success ?? '')
  return { success: good, retcode: good ? 0 : 1 }
}

/** Decode JSON; return the text itself if it is not JSON. */
export function jsonValue(text: string | null | undefined): unknown {
  try {
    return fromRecordJson(text ?? 'null')
  } catch {
    return text
  }
}

export function mapOf(text: string | null | undefined): Fields {
  const value = jsonValue(text)
  return isRecord(value) ? value : {}
}
