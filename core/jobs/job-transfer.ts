import { isJid } from '../base/jid.ts'
import { isMinionId } from '../base/minion-id.ts'
import type { Fields } from '../base/record.ts'
import { isRecord } from '../base/record.ts'
import { encodeLocal } from '../codec/index.ts'
import { fromRecordJson, recordJson } from '../dialect/record-json.ts'

/** The content of one line of an export: a job, or the return of one minion for the job before it. */
export type JobRow =
  | {
      readonly kind: 'job'
      readonly jid: string
      readonly load: Fields
      readonly minions: readonly string[]
      readonly unknown?: readonly string[]
    }
  | { readonly kind: 'return'; readonly jid: string; readonly id: string; readonly ret: Fields }

export const rowLine = (row: JobRow): string => `${recordJson(row)}\n`

/** Parse a line of an export. @throws Error with what is wrong with the line, as the end of a sentence. */
export function parseRow(line: string): JobRow {
  const row = fieldsOf(parsed(line))
  if (!row) throw new Error('it is not a map')
  if (!isJid(row.jid)) throw new Error('its jid is not a job id')
  const checked = row.kind === 'job' ? jobRow(row, row.jid) : returnRow(row, row.jid)
  encodeLocal(checked) // throws if the row cannot be stored
  return checked
}

function parsed(line: string): unknown {
  try {
    return fromRecordJson(line)
  } catch {
    throw new Error('it is not JSON')
  }
}

function jobRow({ load, minions, unknown }: Fields, jid: string): JobRow {
  const fields = fieldsOf(load)
  if (!fields) throw new Error('its load is not a map')
  if (!isIds(minions) || !(unknown === undefined || isIds(unknown)))
    throw new Error('its minions are not a list of minion ids')
  return { kind: 'job', jid, load: fields, minions, ...(unknown && { unknown }) }
}

function returnRow({ kind, id, ret }: Fields, jid: string): JobRow {
  if (kind !== 'return') throw new Error('its kind is neither job nor return')
  if (!isMinionId(id)) throw new Error('its id is not a minion id')
  const fields = fieldsOf(ret)
  if (!fields) throw new Error('its ret is not a map')
  return { kind, jid, id, ret: fields }
}

const isIds = (value: unknown): value is string[] => Array.isArray(value) && value.every(isMinionId)

const fieldsOf = (value: unknown): Fields | undefined => (isRecord(value) ? value : undefined)
