import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { encodeNetwork } from '../codec/index.ts'
import type { JobLoad } from '../wire/publication.ts'

/** A job this minion works on. */
export interface ProcEntry {
  readonly job: JobLoad
  readonly pid: number
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

  /** A table without files, for programs that run one function. */
  static empty(): ProcTable {
    return new ProcTable(undefined)
  }

  static async open(cachedir: string): Promise<ProcTable> {
    const directory = join(cachedir, 'proc')
    await mkdir(directory, { recursive: true, mode: 0o700 })
    for (const name of await readdir(directory)) await rm(join(directory, name), { force: true })
    return new ProcTable(directory)
  }

  async add(job: JobLoad, pid: number): Promise<void> {
    this.#entries.set(job.jid, { job, pid })
    const file = this.#file(job.jid)
    if (file) await writeFileAtomic(file, encodeNetwork({ ...job, pid }), { mode: 0o600 })
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
