import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import { isJid } from './jid.ts'
import { type Fields, isFields } from './records.ts'

const HOUR = 3_600_000

/**
 * What jobs returned, kept on the minion with `cache_jobs`. One file for each job, where Salt has it:
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
    return isFields(ret) ? ret : undefined
  }

  /** Forget jobs that are older, by the clock of this host. */
  async clear(hours: number): Promise<void> {
    const before = Date.now() - hours * HOUR
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
