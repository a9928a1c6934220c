/**
 * Files of runners and wheel functions in separate processes, in Salt's format: `<cachedir>/proc/<jid>` (wire protocol §13). If a
 * process ends before its result is stored and its return event fired, the file remains, and `lost-runs` does both.
 */

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fillFileAtomic } from '../base/files/atomic-file.ts'
import { isJid } from '../base/jid.ts'
import { isRecord } from '../base/record.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import type { MasterConfig } from '../config/index.ts'
import { identityOf, isRunning, readIdentity } from '../process/process-identity.ts'
import type { RunReturn } from './stored-run.ts'

interface RunningRun {
  readonly jid: string
  readonly fun: string
  readonly user: string
  readonly pid: number
}

/** Fields that Salt's files do not have. */
export interface OwnRun extends RunningRun {
  readonly fun_args: readonly unknown[]
  readonly owner?: string
  /** True if its result must be stored in the job cache. */
  readonly store: boolean
  /** True if it has its own session, so that all processes of the group with its pid belong to it. */
  readonly detached: boolean
  /** The result, which is not stored or whose event is not fired yet. */
  readonly ended?: RunReturn
}

export interface RunFile {
  /** Add fields to the file. */
  add(more: Partial<OwnRun>): Promise<void>
  forget(): Promise<void>
}

/** The content of a file. Files of Salt's own programs have no `born`. */
export interface NotedRun extends OwnRun {
  /** Start time of the process, since its pid may be reused. */
  readonly born?: string
  readonly path: string
  readonly alive: boolean
}

type Place = Pick<MasterConfig, 'cachedir'>

const directoryOf = ({ cachedir }: Place): string => join(cachedir, 'proc')

/** Return the path of the file of a run. */
export const runPath = (place: Place, jid: string): string => join(directoryOf(place), jid)

/** Write the file of a run in this process. */
export async function writeRunFile(place: Place, run: Omit<OwnRun, 'pid'>): Promise<RunFile> {
  const noted = { ...run, ...identityOf(process.pid) }
  const path = runPath(place, run.jid)
  const add = async (more: Partial<OwnRun>) => {
    await mkdir(directoryOf(place), { recursive: true, mode: 0o700 }) // in case it was removed
    await fillFileAtomic(path, (file) => file.writeFile(encodeLocal({ ...noted, ...more })), {
      durable: more.ended !== undefined,
    })
  }
  await add({})
  return { add, forget: () => rm(path, { force: true }) }
}

/** Return the runs whose process is alive. */
export async function runningRuns(place: Place): Promise<NotedRun[]> {
  return (await notedRuns(place)).filter(({ alive }) => alive)
}

/** Return all runs that have a file. A file that can be read and is not the record of a run is removed. */
export async function notedRuns(place: Place): Promise<NotedRun[]> {
  const folder = directoryOf(place)
  const names = await readdir(folder).catch(() => [])
  const found: NotedRun[] = []
  for (const name of names.filter(isJid).sort()) {
    const path = join(folder, name)
    const bytes = await readFile(path).catch(() => undefined)
    if (!bytes) continue // it was removed meanwhile, or this process may open no more files
    const run = parseRun(bytes, path)
    if (run) found.push(run)
    else await rm(path, { force: true })
  }
  return found
}

function parseRun(bytes: Uint8Array, path: string): NotedRun | undefined {
  try {
    const noted = decode(bytes)
    if (!isRecord(noted)) return undefined
    const { jid, fun, user, owner, fun_args, store, detached, ended } = noted
    const identity = readIdentity(noted)
    if (!identity) return undefined
    const { born } = identity
    return {
      jid: String(jid),
      fun: String(fun),
      user: String(user),
      ...identity,
      path,
      ...(typeof owner === 'string' && { owner }),
      fun_args: Array.isArray(fun_args) ? fun_args : [],
      store: store === true,
      detached: detached === true,
      ...(isRecord(ended) && { ended: ended as unknown as RunReturn }),
      alive: born === undefined ? existsSync(`/proc/${identity.pid}`) : isRunning(identity),
    }
  } catch {
    return undefined
  }
}
