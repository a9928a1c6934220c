import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MinionId } from '../base/minion-id.ts'
import type { Fields } from '../base/record.ts'
import { encodeLocal } from '../codec/index.ts'
import type { MasterConfig } from '../config/index.ts'
import { timeText } from '../dialect/time-text.ts'
import type { CachedJob } from './job-cache.ts'

type Place = Pick<MasterConfig, 'cachedir' | 'hash_type'>

const write = (folder: string, name: string, data: string | Uint8Array) =>
  writeFile(join(folder, name), data, { mode: 0o600 })

/** Return the directory of a job in Salt's own job cache (wire protocol §13.2). */
function folderOf({ cachedir, hash_type }: Place, jid: string): string {
  const hash = createHash(hash_type).update(jid).digest('hex')
  return join(cachedir, 'jobs', hash.slice(0, 2), hash.slice(2))
}

/**
 * Write the files of a job for Python programs on the master's host: Salt's own `salt` and `LocalClient` wait only for jobs
 * that have these files. The job cache has all of their content, so they are not synced to disk.
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

/** Write a return beside its job. The directory of the minion marks that it has returned. */
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

/** Write the time of the last return. */
export const writeEndTime = (place: Place, jid: string, time: Date): Promise<void> =>
  write(folderOf(place, jid), 'endtime', timeText(time.toISOString()))

export async function removeJobFiles(place: Place, jid: string): Promise<void> {
  await rm(folderOf(place, jid), { recursive: true, force: true })
}
