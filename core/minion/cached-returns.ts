import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/files/atomic-file.ts'
import { isJid } from '../base/jid.ts'
import { type Fields, isRecord } from '../base/record.ts'
import { decode, encodeLocal } from '../codec/index.ts'

const HOUR_MS = 3_600_000

/**
 * Returns that the minion keeps with `cache_jobs`. One file for each job, at Salt's path:
 * `<cachedir>/minion_jobs/<jid>/return.p`.
 */
export class CachedReturns {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async save(jid: string, ret: Fields): Promise<void> {
    if (!isJid(jid)) return
    await mkdir(join(this.#directory, jid), { recursive: true, mode: 0o700 })
    await writeFileAtomic(this.#file(jid), encodeLocal(ret))
  }

  async find(jid: string): Promise<Fields | undefined> {
    if (!isJid(jid)) return undefined
    const bytes = await readFile(this.#file(jid)).catch(() => undefined)
    const ret = bytes && decode(bytes)
    return isRecord(ret) ? ret : undefined
  }

  /** Remove the returns of jobs that are older than `hours`, by the clock of this host. */
  async clear(hours: number): Promise<void> {
    const before = Date.now() - hours * HOUR_MS
    for (const jid of await readdir(this.#directory).catch(() => [])) {
      const path = join(this.#directory, jid)
      const found = await stat(path).catch(() => undefined)
      if (isJid(jid) && found && found.mtimeMs <= before) await rm(path, { recursive: true, force: true })
    }
  }

  #file(jid: string): string {
    return join(this.#directory, jid, 'return.p')
  }
}
