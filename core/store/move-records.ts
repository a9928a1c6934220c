import { randomUUID } from 'node:crypto'
import { decode } from '../codec/index.ts'
import type { Environment } from './environment.ts'
import type { OpenFile } from './open-file.ts'
import { withChecksum, withoutChecksum } from './record.ts'

/**
 * A file that was removed while processes have it open can still be read and written by these processes, but by no others.
 * They leave it together: one marks it as abandoned, after which no process changes it, and all of them copy its records to
 * the file that is now at its path, each continuing where another one stopped.
 */

/** Key of the mark in an abandoned file. The value is a name for the file. */
const ABANDONED = ['left']
/** First part of the key, followed by that name, under which the new file has the progress of copying. */
const PROGRESS = 'carried'
const RECORDS_AT_ONCE = 500

type Key = (string | number)[]

interface Progress {
  readonly after: Key | null
  readonly count: number
  readonly done: boolean
}

/** Whether a file is abandoned, and must not be changed any more. Call this in a transaction. */
export const isAbandoned = (environment: Environment): boolean => environment.doesExist(ABANDONED)

/** Remove the mark from a file that was moved back to its path. Call this in a transaction. */
export const clearAbandoned = (environment: Environment): void => void environment.removeSync(ABANDONED)

/**
 * Copy all records of `old` whose keys `fresh` does not have. Resolves with their number if this process copied the last of
 * them, else with undefined. Rejects with LMDB's error.
 */
export async function moveRecords(
  old: Environment,
  fresh: Environment,
  freshFile: OpenFile,
): Promise<number | undefined> {
  const name = await leave(old)
  for (;;) {
    const copied = await fresh.transaction(() =>
      freshFile.isFollowedBy(fresh.getWriteTxnId()) ? copySome(old, fresh, name) : undefined,
    )
    if (copied?.now.done) return copied.before?.done ? undefined : copied.now.count
  }
}

async function leave(old: Environment): Promise<string> {
  let name = ''
  await old.transaction(() => {
    name = (old.get(ABANDONED) ?? '').toString()
    if (name !== '') return
    name = randomUUID()
    old.putSync(ABANDONED, Buffer.from(name))
  })
  return name
}

function copySome(old: Environment, fresh: Environment, name: string) {
  const before = readProgress(fresh, name)
  if (before?.done) return { before, now: before }
  const start = before?.after ?? undefined
  const range = start === undefined ? {} : { start, exclusiveStart: true }
  const some = [...old.getKeys({ ...range, limit: RECORDS_AT_ONCE })].map(asKey)
  const missing = some.filter((key) => !isOwn(key) && !fresh.doesExist(key))
  for (const key of missing) {
    const record = old.get(key)
    if (record) fresh.putSync(key, record)
  }
  const now: Progress = {
    after: some.at(-1) ?? null,
    count: (before?.count ?? 0) + missing.length,
    done: some.length < RECORDS_AT_ONCE,
  }
  fresh.putSync([PROGRESS, name], withChecksum(now))
  return { before, now }
}

function readProgress(fresh: Environment, name: string): Progress | undefined {
  const record = fresh.get([PROGRESS, name])
  return record && (withoutChecksum(record, decode)?.value as Progress | undefined)
}

const isOwn = (key: Key): boolean => [...ABANDONED, PROGRESS].includes(String(key[0]))
const asKey = (key: Key | string | number): Key => (typeof key === 'object' ? key : [key])
