import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { decode, encodeNetwork } from '../codec/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { type JobLoad, readJobLoad } from '../wire/publication.ts'

/** A job this minion works on. */
export interface ProcEntry {
  readonly job: JobLoad
  /** The process that runs it; undefined while it waits for its turn (`process_count_max`). */
  readonly pid: number | undefined
  /** Signal all that works on it, or take it out of the queue. */
  stop(signal: number): void
}

/**
 * The jobs that run now, in memory and as files `<cachedir>/proc/<jid>` (wire protocol §10.2), which other programs on
 * the host read. Files of an earlier life of the minion are removed at start.
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
    for (const name of await readdir(directory).catch(() => [])) {
      const entry = await readEntry(join(directory, name))
      if (entry) table.#entries.set(entry.job.jid, entry)
    }
    return table
  }

  static async open(cachedir: string): Promise<ProcTable> {
    const directory = join(cachedir, 'proc')
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (const name of await readdir(directory)) await rm(join(directory, name), { force: true })
    return new ProcTable(directory)
  }

  /** The job is known from now on; once it has a process others on the host can see it, too. */
  async add(entry: ProcEntry): Promise<void> {
    const { job, pid } = entry
    this.#entries.set(job.jid, entry)
    const file = this.#file(job.jid)
    if (file && pid !== undefined)
      await writeFileAtomic(file, encodeNetwork({ ...job, pid }), { mode: 0o600 })
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

async function readEntry(path: string): Promise<ProcEntry | undefined> {
  const found = await readFile(path)
    .then(decode)
    .catch(() => undefined)
  const { pid, ...load } = isRecord(found) ? found : {}
  const job = readJobLoad(load)
  if (!job || typeof pid !== 'number' || !(await isJobProcess(pid))) return undefined
  return { job, pid, stop: (signal) => process.kill(-pid, signal) }
}

/** Not the minion itself, nor what got the number of a process that is gone. */
async function isJobProcess(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  return pid > 1 && command.includes('job-process')
}
