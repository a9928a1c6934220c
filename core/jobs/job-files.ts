import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MinionId } from '../base/minion-id.ts'
import { timeText } from '../base/time-text.ts'
import { encodeLocal } from '../codec/index.ts'
import type { MasterConfig } from '../config/index.ts'
import type { CachedJob } from './job-cache.ts'
import type { Fields } from './records.ts'

type Place = Pick<MasterConfig, 'cachedir' | 'hash_type'>

const write = (folder: string, name: string, data: string | Uint8Array) =>
  writeFile(join(folder, name), data, { mode: 0o600 })

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
  await Promise.all([
    write(folder, 'jid', jid),
    write(folder, '.load.p', encodeLocal(load)),
    write(folder, '.minions.p', encodeLocal(minions)),
  ])
}

/** Write a return beside its job. The folder of the minion says that it has returned. */
export async function writeReturnFiles(
  place: Place,
  jid: string,
  id: MinionId,
  { return: value, retcode, success, out }: Fields,
): Promise<void> {
  const folder = join(folderOf(place, jid), id)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await write(folder, 'return.p', encodeLocal({ return: value, retcode, success }))
  if (typeof out === 'string') await write(folder, 'out.p', encodeLocal(out))
}

/** Write when the last return came. */
export const writeEndTime = (place: Place, jid: string, time: Date): Promise<void> =>
  write(folderOf(place, jid), 'endtime', timeText(time.toISOString()))

export async function removeJobFiles(place: Place, jid: string): Promise<void> {
  await rm(folderOf(place, jid), { recursive: true, force: true })
}
