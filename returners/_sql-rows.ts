/** Records as they lie in Salt's tables, written by us or by Python Salt. */
import { fromRecordJson, type LoadRecord, type ReturnRecord } from 'salt-ts'
import type { SqlRow } from './_sql-database.ts'

type Fields = Readonly<Record<string, unknown>>

/** Widths of Salt's columns, in characters. What is cut is whole in the JSON beside it. */
const FUN_WIDTH = 50
const TAG_WIDTH = 255

/** Several functions of one job are one text: `test.ping,test.version`. */
export const funText = (fun: ReturnRecord['fun']): string => cut([fun].flat().join(','), FUN_WIDTH)

export const tagText = (tag: string): string => cut(tag, TAG_WIDTH)

const cut = (text: string, width: number): string =>
  text.length <= width ? text : [...text].slice(0, width).join('')

/** The job's minions are in it as `Minions`, as in Salt's own job cache. */
export const withMinions = ({ load, minions }: LoadRecord): Fields => ({ ...load, Minions: minions })

export function loadOf(row: SqlRow): LoadRecord {
  const { Minions, ...load } = mapOf(row.load)
  const minions = Array.isArray(Minions) ? Minions.filter((id) => typeof id === 'string') : []
  return { jid: String(row.jid), load, minions }
}

/** What is read of salt_returns: the rest is in full_ret. */
export const RETURN_COLUMNS = ['jid', 'id', 'fun', 'success', 'full_ret']

/** A row with `RETURN_COLUMNS`. */
export const returnOf = (row: SqlRow): ReturnRecord => ({
  fun: row.fun ?? '',
  fun_args: [],
  ...succeeded(row),
  return: null,
  ...mapOf(row.full_ret),
  jid: String(row.jid),
  id: String(row.id),
})

/** What the column success says: true or 1. */
export function succeeded({ success }: SqlRow): { success: boolean; retcode: number } {
  const good = /^(?:true|1)$/i.test(success ?? '')
  return { success: good, retcode: good ? 0 : 1 }
}

/** What was written; the text itself if it is not JSON. */
export function jsonValue(text: string | null | undefined): unknown {
  try {
    return fromRecordJson(text ?? 'null')
  } catch {
    return text
  }
}

export function mapOf(text: string | null | undefined): Fields {
  const value = jsonValue(text)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
