import { randomUUID } from 'node:crypto'
import { decode } from '../codec/index.ts'
import type { Environment } from './environment.ts'
import { seal, unseal } from './record.ts'

/**
 * A file that was removed while processes have it open can still be read and written through them, and by nobody after
 * them. They leave it together: one marks it, in a change that no other change follows, and all of them copy what it has to
 * the file that is now under its path, each going on where another got to.
 */

/** In a file that was left: a name for it. */
const LEFT = ['left']
/** In the file that took its place, followed by that name: how far it got. */
const CARRIED = 'carried'
const RECORDS_AT_ONCE = 500

type Key = (string | number)[]

interface Progress {
  readonly after: Key | null
  readonly count: number
  readonly done: boolean
}

/** Whether nobody may change it any more; to be asked in a transaction. */
export const isLeft = (environment: Environment): boolean => environment.doesExist(LEFT)

/** Undo the mark; to be called in a transaction, by who finds such a file in its place again. */
export const stay = (environment: Environment): void => void environment.removeSync(LEFT)

/**
 * Copy all records of `old` that `fresh` has none of yet. Gives their number if this process copied the last of them, else
 * undefined. Rejects with LMDB's error.
 */
export async function carryOver(old: Environment, fresh: Environment): Promise<number | undefined> {
  const name = await leave(old)
  for (;;) {
    const { before, now } = await fresh.transaction(() => copySome(old, fresh, name))
    if (now.done) return before?.done ? undefined : now.count
  }
}

async function leave(old: Environment): Promise<string> {
  let name = ''
  await old.transaction(() => {
    name = (old.get(LEFT) ?? '').toString()
    if (name !== '') return
    name = randomUUID()
    old.putSync(LEFT, Buffer.from(name))
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
  fresh.putSync([CARRIED, name], seal(now))
  return { before, now }
}

function readProgress(fresh: Environment, name: string): Progress | undefined {
  const record = fresh.get([CARRIED, name])
  return record && (unseal(record, decode)?.value as Progress | undefined)
}

const isOwn = (key: Key): boolean => [...LEFT, CARRIED].includes(String(key[0]))
const asKey = (key: Key | string | number): Key => (typeof key === 'object' ? key : [key])
