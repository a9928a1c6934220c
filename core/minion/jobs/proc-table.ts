import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fillFileAtomic, isTemporary } from '../../base/files/atomic-file.ts'
import { makeDirectory } from '../../base/files/directory.ts'
import { isRecord } from '../../base/record.ts'
import { decode, encodeNetwork } from '../../codec/index.ts'
import { isRunning, type ProcessIdentity, readIdentity } from '../../process/process-identity.ts'
import { type JobLoad, readJobLoad } from '../../wire/publication.ts'
import { endGroup, signalGroup } from './job-group.ts'

/** A job of this minion that has not finished. */
export interface ProcEntry {
  readonly job: JobLoad
  /** The process that runs it; undefined while it is queued (`process_count_max`) and when it is over. */
  readonly process: ProcessIdentity | undefined
  /** True if the job is over, but its return is neither on disk nor acknowledged by the master. */
  readonly isReturning?: boolean
  /** Address of the master that published it, if known. */
  readonly master?: string | undefined
  /**
   * Signal its process group, or take it out of the queue. With `graceMs` the job gets SIGINT first, and the group is killed
   * after that many milliseconds. Throws if its process has ended.
   */
  stop(signal: number, graceMs?: number): void
}

/**
 * The running jobs, in memory and as files `<cachedir>/proc/<jid>` (wire protocol §10.2). Other programs on the host read the
 * files, and so does the minion after a restart.
 */
export class ProcTable {
  readonly #directory: string | undefined
  readonly #entries = new Map<string, ProcEntry>()

  private constructor(directory: string | undefined) {
    this.#directory = directory
  }

  /** Read the jobs that the minion of this host runs from its files, for other programs. Changes no files. */
  static async read(cachedir: string): Promise<ProcTable> {
    const table = new ProcTable(undefined)
    const directory = join(cachedir, 'proc')
    for (const entry of await readFiles(directory)) {
      if (entry.process && isRunning(entry.process)) table.#entries.set(entry.job.jid, entry)
    }
    return table
  }

  /** Open the table of a minion. `interrupted` are jobs whose end an earlier run did not see; the table contains them as well. */
  static async open(cachedir: string): Promise<{ procs: ProcTable; interrupted: readonly ProcEntry[] }> {
    const directory = join(cachedir, 'proc')
    await makeDirectory(directory)
    for (const name of await readdir(directory)) {
      if (isTemporary(name)) await rm(join(directory, name), { force: true })
    }
    const procs = new ProcTable(directory)
    const interrupted = await readFiles(directory)
    for (const entry of interrupted) procs.#entries.set(entry.job.jid, entry)
    return { procs, interrupted }
  }

  /**
   * Add a job. Its file is written once it has a process. The file is not synced to disk: after a power failure no process is
   * left, and the spool has a record of the jobs that had begun.
   */
  async add(entry: ProcEntry): Promise<void> {
    const { job, process, master } = entry
    this.#entries.set(job.jid, entry)
    const file = this.#file(job.jid)
    if (!file || !process) return
    const bytes = encodeNetwork({ ...job, ...process, master })
    await inDirectory(dirname(file), () =>
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

/** Write into a directory, and make it again if it was removed. */
async function inDirectory(directory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    await makeDirectory(directory)
    await write()
  }
}

/** Read the files of all jobs in a directory. */
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
    stop: stopFunctionOf(process),
  }
}

/** Return the function that stops the job of a job process. */
export const stopFunctionOf =
  (leader: ProcessIdentity): ProcEntry['stop'] =>
  (signal, graceMs = 0) =>
    graceMs > 0 ? endGroup(leader, graceMs) : signalGroup(leader, signal)
