import { createReadStream } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, createGzip, type Gunzip, type Gzip } from 'node:zlib'
import type { JobArchive, JobQuery } from '../../author/master.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { fillFileAtomic } from '../../base/files/atomic-file.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import { type JobRow, parseRow, rowLine } from '../../jobs/job-transfer.ts'

/** Rows stored in one transaction. */
const ROWS_AT_ONCE = 500
const BYTES_AT_ONCE = 2 ** 20
/** A longer line is not from an export: a return of this size would not have reached the master. */
const MAX_LINE_BYTES = 2 ** 28

/** Export the master's job cache to files and import it: as JSON lines, and as a copy of the store. */
export function createJobArchive(jobs: () => Promise<JobCache>): JobArchive {
  return {
    async export(name, which = {}) {
      const file = resolve(name)
      const counts = { jobs: 0, returns: 0 }
      const source = Readable.from(chunks(lines(await jobs(), which, counts)))
      await written(file, () => fillFileAtomic(file, (handle) => fill(handle, source, isZipped(file))))
      return { file, ...counts }
    },

    async import(name, onRefused) {
      const file = resolve(name)
      const cache = await jobs()
      const counts = { jobs: 0, returns: 0, known: 0, refused: 0 }
      const take = async (rows: readonly JobRow[]) => {
        const taken = await cache.take(rows)
        counts.jobs += taken.jobs
        counts.returns += taken.returns
        counts.known += rows.length - taken.jobs - taken.returns
      }
      const refuse = async (line: number, why: unknown) => {
        counts.refused++
        await onRefused(line, messageOf(why))
      }
      await read(file, take, refuse)
      return { file, ...counts }
    },

    async backup(name) {
      const file = resolve(name)
      const cache = await jobs()
      return { file, bytes: await written(file, () => cache.backup(file)) }
    },
  }
}

const isZipped = (file: string): boolean => file.endsWith('.gz')

async function fill(file: FileHandle, source: Readable, zipped: boolean): Promise<void> {
  for await (const chunk of zipped ? through(source, createGzip()) : source) await file.appendFile(chunk)
}

async function* through(source: Readable, zip: Gzip | Gunzip): AsyncGenerator<Buffer> {
  source.once('error', (error) => zip.destroy(error))
  yield* source.pipe(zip)
}

function* lines(
  cache: JobCache,
  { jids, ...query }: JobQuery & { readonly jids?: readonly string[] | undefined },
  counts: { jobs: number; returns: number },
): Generator<string> {
  const wanted = jids ? jids.flatMap((jid) => [jid, ...cache.waves(jid)]) : jidsOf(cache, query)
  for (const jid of wanted) {
    const job = cache.load(jid)
    if (!job) continue
    counts.jobs++
    yield rowLine({ kind: 'job', jid, ...job })
    for (const [id, ret] of cache.eachReturn(jid)) {
      counts.returns++
      yield rowLine({ kind: 'return', jid, id, ret })
    }
  }
}

function* jidsOf(cache: JobCache, query: JobQuery): Generator<string> {
  for (const { jid } of cache.list(query)) yield jid
}

function* chunks(lines: Iterable<string>): Generator<Buffer> {
  let [gathered, length]: [string[], number] = [[], 0]
  for (const line of lines) {
    gathered.push(line)
    length += line.length
    if (length < BYTES_AT_ONCE) continue
    yield Buffer.from(gathered.join(''))
    gathered = []
    length = 0
  }
  yield Buffer.from(gathered.join(''))
}

async function read(
  file: string,
  take: (rows: readonly JobRow[]) => Promise<void>,
  refuse: (line: number, why: unknown) => Promise<void>,
): Promise<void> {
  let number = 0
  const rows: JobRow[] = []
  try {
    for await (const line of linesOf(file)) {
      number++
      if (line.trim() === '') continue
      try {
        rows.push(parseRow(line))
      } catch (error) {
        await refuse(number, error)
      }
      if (rows.length < ROWS_AT_ONCE) continue
      await take(rows.splice(0))
    }
  } catch (error) {
    if (SaltError.is(error)) throw error
    await take(rows.splice(0))
    throw unreadable(file, number, error)
  }
  await take(rows)
}

/** Yield the lines of a file, which is gunzipped if its name ends in `.gz`. */
async function* linesOf(file: string): AsyncGenerator<string> {
  const bytes = createReadStream(file, { highWaterMark: 2 ** 18 })
  let rest: Buffer = Buffer.alloc(0)
  let begun: Buffer[] = []
  for await (const chunk of isZipped(file) ? through(bytes, createGunzip()) : bytes) {
    rest = chunk
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield Buffer.concat([...begun, rest.subarray(0, end)]).toString()
      begun = []
      rest = rest.subarray(end + 1)
    }
    begun.push(rest)
    if (begun.reduce((sum, { length }) => sum + length, 0) > MAX_LINE_BYTES)
      throw new Error('a line is too long for an export of salt-ts')
  }
  yield Buffer.concat(begun).toString()
}

function unreadable(file: string, line: number, error: unknown): SaltError {
  const why = (error as NodeJS.ErrnoException).syscall ? fileProblem(error) : messageOf(error)
  const kept = line > 0 ? ` The ${line} lines before that were imported.` : ''
  return new SaltError('INVALID_ARGUMENTS', `${file} cannot be read: ${why}.${kept}`, { file })
}

async function written<T>(file: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (SaltError.is(error)) throw error
    throw new SaltError('STORE_FAILED', `${file} cannot be written: ${fileProblem(error)}.`, { file })
  }
}
