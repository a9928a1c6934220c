/** Returns, jobs and events as Elasticsearch documents, in Salt's indexes. */
import { createHash } from 'node:crypto'
import { type EventRecord, type LoadRecord, type ReturnRecord, recordJson } from 'salt-ts'
import { type Fields, isRecord } from './_fields.ts'

export interface IndexOptions {
  readonly index_date: boolean
  readonly master_event_index: string
  readonly master_job_cache_index: string
  readonly states_count: boolean
  readonly states_order_output: boolean
  readonly states_single_index: boolean
}

export interface Document {
  readonly index: string
  readonly id: string
  /** Content in Salt's field; left out if it conflicts with the mapping of the index. */
  readonly shown: Fields
  readonly fields: Fields
}

const STATE_FUNCTIONS = ['state.apply', 'state.highstate', 'state.sls']

export function returnDocument(ret: ReturnRecord, options: IndexOptions): Document {
  const fun = String(ret.fun)
  const isState = STATE_FUNCTIONS.includes(fun)
  const states = isState && isRecord(ret.return) ? ret.return : undefined
  const ordered = states && options.states_order_output
  const name = isState && options.states_single_index ? 'state.apply' : fun
  return {
    index: indexName(
      `salt-${name.replaceAll('.', '_')}${dated(ret.jid, options)}${ordered ? '-ordered' : ''}`,
    ),
    id: digest(ret.jid, ret.id),
    shown: {
      data: converted(ordered ? inOrder(states) : isState && !states ? { return: ret.return } : ret.return),
    },
    fields: {
      '@timestamp': new Date().toISOString(),
      success: ret.retcode === 0,
      retcode: ret.retcode,
      minion: ret.id,
      fun,
      jid: ret.jid,
      counts: states && options.states_count ? counted(states) : {},
      full_ret: recordJson(ret),
    },
  }
}

export const jobDocument = ({ jid, load, minions }: LoadRecord, options: IndexOptions): Document => ({
  index: options.master_job_cache_index,
  id: jid,
  shown: { load: converted(load) },
  fields: { '@timestamp': new Date().toISOString(), jid, full_load: recordJson({ jid, load, minions }) },
})

export const eventDocument = ({ tag, data }: EventRecord, key: string, options: IndexOptions): Document => ({
  index: `${options.master_event_index}${dated('', options)}`,
  id: digest(key),
  shown: { data: converted(data) },
  fields: { '@timestamp': new Date().toISOString(), tag, full_data: recordJson(data) },
})

/** Return the suffix of a dated index. It has the day of the job id, so that a rewrite on another day replaces the document. */
function dated(jid: string, { index_date }: IndexOptions): string {
  if (!index_date) return ''
  const day = /^\d{8}/.exec(jid)?.[0] ?? new Date().toISOString().slice(0, 10).replaceAll('-', '')
  return `-${day.slice(0, 4)}.${day.slice(4, 6)}.${day.slice(6, 8)}`
}

/** Replace characters that an index name may not have. What is cut through at its end is none. */
const indexName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^\p{L}\p{N}._-]/gu, '_')
    .slice(0, 80)
    .replace(/\p{Cs}$/u, '')

const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex')

/** Convert a value to JSON, with dots in keys replaced as Salt does; bytes and large integers as in `recordJson`. */
const converted = (value: unknown): unknown => withoutDots(JSON.parse(recordJson(value)))

function withoutDots(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDots)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).flatMap(([key, member]): [string, unknown][] => [
    ...(key.includes('.') ? [['_orig_key', key] as [string, unknown]] : []),
    [key.replaceAll('.', '_'), withoutDots(member)],
  ])
  return Object.fromEntries(entries)
}

/** Prefix the names with the run number: `07_|-file_|-motd_|-…`. */
function inOrder(states: Fields): Fields {
  const digits = String(Object.keys(states).length).length
  return Object.fromEntries(
    Object.entries(states).map(([name, state]) => {
      const parts = name.split('_|-')
      const run = String(isRecord(state) ? state.__run_num__ : '').padStart(digits, '0')
      return [
        `${run}_|-${name}`,
        isRecord(state) ? { ...state, _func: `${parts[0]}.${parts.at(-1)}` } : state,
      ]
    }),
  )
}

function counted(states: Fields): Fields {
  const all = Object.values(states)
  const failed = all.filter((state) => isRecord(state) && state.result === false).length
  return { succeeded: all.length - failed, failed }
}
