/** Returns, jobs and events as MongoDB documents in Salt's form, each with the whole record as JSON beside it. */
import { createHash } from 'node:crypto'
import { type EventRecord, fromRecordJson, type LoadRecord, type ReturnRecord, recordJson } from 'salt-ts'

type Fields = Readonly<Record<string, unknown>>

/** A document whose `_id` is derived from its content, so that a rewrite replaces it. */
export interface MongoDocument {
  readonly _id: string
  readonly [field: string]: unknown
}

/** A job document; it also has the fields of the load. */
export type MongoJob = {
  readonly _id: string
  readonly jid: string
  readonly minions: readonly string[]
}

export function returnDocument(ret: ReturnRecord): MongoDocument {
  const { jid, id, fun, out } = ret
  return {
    _id: digest('return', jid, id),
    minion: id,
    jid,
    fun,
    return: shown(ret.return, withoutDots),
    full_ret: shown(ret, withoutDots),
    ...(out !== undefined && { out: shown(out, withoutDots) }),
    record: recordJson(ret),
    alter_time: new Date(),
  }
}

/** Return the document of a job without the minions, which are added separately. */
export const jobDocument = ({ jid, load }: LoadRecord): Fields => ({
  ...(shown(load, escaped) as Fields),
  jid,
  record: recordJson(load),
  alter_time: new Date(),
})

export const jobId = (jid: string): string => digest('job', jid)

export const eventDocument = ({ tag, data }: EventRecord, key: string): MongoDocument => ({
  _id: digest('event', key),
  tag,
  data: shown(data, withoutDots),
  record: recordJson(data),
  alter_time: new Date(),
})

/** Restore a return. Documents written by Python have no record. */
export const returnOf = ({ record, full_ret, minion }: Fields): ReturnRecord =>
  typeof record === 'string'
    ? (fromRecordJson(record) as ReturnRecord)
    : ({
        fun_args: [],
        retcode: 0,
        success: true,
        ...(full_ret as object),
        id: minion,
      } as unknown as ReturnRecord)

export function jobOf({ _id, record, minions, alter_time, ...load }: Fields): LoadRecord {
  return {
    jid: String(load.jid),
    load: typeof record === 'string' ? (fromRecordJson(record) as Fields) : load,
    minions: Array.isArray(minions) ? minions : [],
  }
}

/** Convert a value to JSON data with converted keys. */
const shown = (value: unknown, keyOf: (key: string) => string): unknown =>
  rekeyed(JSON.parse(recordJson(value)), keyOf)

function rekeyed(value: unknown, keyOf: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((member) => rekeyed(member, keyOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [keyOf(key), rekeyed(member, keyOf)]),
  )
}

/** Salt's conversions of keys, for returns and for jobs. No key then has a NUL or begins with a dollar sign. */
const withoutDots = (key: string): string =>
  key.replaceAll('.', '-').replace(/^\$/, '%24').replaceAll('\0', '%00')
const escaped = (key: string): string =>
  key.replace(/[%\\$.\0]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)

const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')
