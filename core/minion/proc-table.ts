import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fillFileAtomic, isTemporary } from '../base/atomic-file.ts'
import { isRunning, type ProcessIdentity, readIdentity } from '../base/process-identity.ts'
import { decode, encodeNetwork } from '../codec/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { type JobLoad, readJobLoad } from '../wire/publication.ts'
import { endGroup, signalGroup } from './job-group.ts'

/** A job this minion works on. */
export interface ProcEntry {
  readonly job: JobLoad
  /** The process that runs it; undefined while it waits for its turn (`process_count_max`), and when it is over. */
  readonly process: ProcessIdentity | undefined
  /** It is over, and its return neither on disk nor with the master. */
  readonly isReturning?: boolean
  /** Address of the master that published it, where that is known. */
  readonly master?: string | undefined
  /**
   * Signal all that works on it, or take it out of the queue. With `graceMs` it is told to end, and signalled if it does
   * not in so many milliseconds. Throws if its process is over.
   */
  stop(signal: number, graceMs?: number): void
}

/**
 * The jobs that run now, in memory and as files `<cachedir>/proc/<jid>` (wire protocol §10.2), which other programs on
 * the host read, and the minion itself when it was started again.
 */
export class ProcTable {
  readonly #directory: string | undefined
  readonly #entries = new Map<string, ProcEntry>()

  private constructor(directory: string | undefined) {
    this.#directory = directory
  }

  /** What runs in the minion of this host, as its files tell; for programs beside it. Changes nothing there. */
  static async read(cachedir: string): Promise<ProcTable> {
    const table = new ProcTable(undefined)
    const directory = join(cachedir, 'proc')
    for (const entry of await readFiles(directory)) {
      if (entry.process && isRunning(entry.process)) table.#entries.set(entry.job.jid, entry)
    }
    return table
  }

  /** `left` are jobs of an earlier life of the minion, which did not see their end. They are in the table, too. */
  static async open(cachedir: string): Promise<{ procs: ProcTable; left: readonly ProcEntry[] }> {
    const directory = join(cachedir, 'proc')
    await make(directory)
    for (const name of await readdir(directory)) {
      if (isTemporary(name)) await rm(join(directory, name), { force: true })
    }
    const procs = new ProcTable(directory)
    const left = await readFiles(directory)
    for (const entry of left) procs.#entries.set(entry.job.jid, entry)
    return { procs, left }
  }

  /**
   * The job is known from now on; once it has a process others on the host can see it, too. The file is not waited for
   * until it is on disk: after a power failure no process is left, and the spool knows which jobs had begun.
   */
  async add(entry: ProcEntry): Promise<void> {
    const { job, process, master } = entry
    this.#entries.set(job.jid, entry)
    const file = this.#file(job.jid)
    if (!file || !process) return
    const bytes = encodeNetwork({ ...job, ...process, master })
    await inFolder(dirname(file), () =>
      fillFileAtomic(file, (handle) => handle.writeFile(bytes), { durable: false }),
    )
  }

  async remove(jid: string): Promise<void> {
    this.#entries.delete(jid)
    const file = this.#file(jid)
    if (file) await rm(file, { force: true })
  }

  get(jid: string): ProcEntry | undefined {
    return this.#entries.get(jid)
  }

  running(): ProcEntry[] {
    return [...this.#entries.values()]
  }

  get size(): number {
    return this.#entries.size
  }

  #file(jid: string): string | undefined {
    return this.#directory && join(this.#directory, encodeURIComponent(jid))
  }
}

const make = (directory: string) => mkdir(directory, { recursive: true, mode: 0o700 })

/** Write into a folder, which is made again if somebody removed it. */
async function inFolder(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await make(directory)
    await write()
  }
}

/** Jobs by the files in a folder. */
async function readFiles(directory: string): Promise<ProcEntry[]> {
  const found: ProcEntry[] = []
  for (const name of await readdir(directory).catch(() => [])) {
    const entry = await readEntry(join(directory, name))
    if (entry) found.push(entry)
  }
  return found
}

async function readEntry(path: string): Promise<ProcEntry | undefined> {
  const found = await readFile(path)
    .then(decode)
    .catch(() => undefined)
  const { pid, born, token, master, ...load } = isRecord(found) ? found : {}
  const job = readJobLoad(load)
  const process = readIdentity({ pid, born, token })
  if (!job || !process) return undefined
  return {
    job,
    process,
    master: typeof master === 'string' ? master : undefined,
    stop: stopOf(process),
  }
}

/** How the job of a job process is ended. */
export const stopOf =
  (leader: ProcessIdentity): ProcEntry['stop'] =>
  (signal, graceMs = 0) =>
    graceMs > 0 ? endGroup(leader, graceMs) : signalGroup(leader, signal)
