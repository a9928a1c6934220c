import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeLocal } from '../codec/index.ts'
import type { MasterConfig } from '../config/index.ts'
import type { CachedJob } from './job-cache.ts'

type Place = Pick<MasterConfig, 'cachedir' | 'hash_type'>

/** Folder of a job in Salt's own job cache (wire protocol §13.2). */
function folderOf({ cachedir, hash_type }: Place, jid: string): string {
  const hash = createHash(hash_type).update(jid).digest('hex')
  return join(cachedir, 'jobs', hash.slice(0, 2), hash.slice(2))
}

/**
 * Write a job where Python programs on the master's host look it up: Salt's own `salt` and `LocalClient` wait only for
 * jobs that have these files. They hold nothing the job cache does not hold, so they are not synced to disk.
 */
export async function writeJobFiles(place: Place, { jid, load, minions }: CachedJob): Promise<void> {
  const folder = folderOf(place, jid)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const write = (name: string, data: string | Uint8Array) =>
    writeFile(join(folder, name), data, { mode: 0o600 })
  await Promise.all([
    write('jid', jid),
    write('.load.p', encodeLocal(load)),
    write('.minions.p', encodeLocal(minions)),
  ])
}

export async function removeJobFiles(place: Place, jid: string): Promise<void> {
  await rm(folderOf(place, jid), { recursive: true, force: true })
}
