/** Runners in the background, each a file in Salt's form: `<cachedir>/proc/<jid>` (wire protocol §13). */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomic } from '../base/atomic-file.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import type { MasterConfig } from '../config/index.ts'
import { isJid } from './jid.ts'
import { isFields } from './records.ts'

export interface RunningRun {
  readonly jid: string
  readonly fun: string
  readonly user: string
  readonly pid: number
}

type Place = Pick<MasterConfig, 'cachedir'>

const folderOf = ({ cachedir }: Place): string => join(cachedir, 'proc')

/** Note down that one runs; what is given forgets it. */
export async function noteRun(place: Place, run: RunningRun): Promise<() => Promise<void>> {
  const path = join(folderOf(place), run.jid)
  await mkdir(folderOf(place), { recursive: true, mode: 0o700 })
  await writeFileAtomic(path, encodeLocal(run), { mode: 0o600 })
  return () => rm(path, { force: true })
}

/** Those that run. Files of processes that are gone are removed. */
export async function runningRuns(place: Place): Promise<RunningRun[]> {
  const folder = folderOf(place)
  const names = await readdir(folder).catch(() => [])
  const found: RunningRun[] = []
  for (const name of names.filter(isJid).sort()) {
    const path = join(folder, name)
    const run = await readRun(path)
    if (run && isAlive(run.pid)) found.push(run)
    else await rm(path, { force: true })
  }
  return found
}

async function readRun(path: string): Promise<RunningRun | undefined> {
  try {
    const run = decode(await readFile(path))
    if (!isFields(run)) return undefined
    const { jid, fun, user, pid } = run
    return { jid: String(jid), fun: String(fun), user: String(user), pid: Number(pid) }
  } catch {
    return undefined
  }
}

function isAlive(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
