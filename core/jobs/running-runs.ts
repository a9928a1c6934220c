/**
 * Runners and wheel functions in processes of their own, each a file in Salt's form: `<cachedir>/proc/<jid>` (wire protocol
 * §13). A file outlives its process where the end has not been stored or told; `lost-runs` does so then.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fillFileAtomic } from '../base/atomic-file.ts'
import { identityOf, isRunning, readIdentity } from '../base/process-identity.ts'
import { decode, encodeLocal } from '../codec/index.ts'
import type { MasterConfig } from '../config/index.ts'
import { isJid } from './jid.ts'
import { isFields } from './records.ts'
import type { RunReturn } from './stored-run.ts'

interface RunningRun {
  readonly jid: string
  readonly fun: string
  readonly user: string
  readonly pid: number
}

/** Besides what Salt's files have. */
export interface OwnRun extends RunningRun {
  readonly fun_args: readonly unknown[]
  readonly owner?: string
  /** What it returns belongs in the job cache. */
  readonly store: boolean
  /** In a session of its own: all processes of the group with its number are its own. */
  readonly detached: boolean
  /** What is still to be stored, or told. */
  readonly ended?: RunReturn
}

export interface RunFile {
  /** Write down more. */
  add(more: Partial<OwnRun>): Promise<void>
  forget(): Promise<void>
}

/** What is in a file. Those of Salt's own programs have no `born`. */
export interface NotedRun extends OwnRun {
  /** When the process began, since its number may be given to another one. */
  readonly born?: string
  readonly path: string
  readonly alive: boolean
}

type Place = Pick<MasterConfig, 'cachedir'>

const folderOf = ({ cachedir }: Place): string => join(cachedir, 'proc')

/** The file of one. */
export const runPath = (place: Place, jid: string): string => join(folderOf(place), jid)

/** Note down that one runs in this process. */
export async function noteRun(place: Place, run: Omit<OwnRun, 'pid'>): Promise<RunFile> {
  const noted = { ...run, ...identityOf(process.pid) }
  const path = runPath(place, run.jid)
  const add = async (more: Partial<OwnRun>) => {
    await mkdir(folderOf(place), { recursive: true, mode: 0o700 }) // somebody may have removed it meanwhile
    await fillFileAtomic(path, (file) => file.writeFile(encodeLocal({ ...noted, ...more })), {
      durable: more.ended !== undefined,
    })
  }
  await add({})
  return { add, forget: () => rm(path, { force: true }) }
}

/** Those that run. */
export async function runningRuns(place: Place): Promise<NotedRun[]> {
  return (await notedRuns(place)).filter(({ alive }) => alive)
}

/** All that are written down. Files that cannot be read are removed. */
export async function notedRuns(place: Place): Promise<NotedRun[]> {
  const folder = folderOf(place)
  const names = await readdir(folder).catch(() => [])
  const found: NotedRun[] = []
  for (const name of names.filter(isJid).sort()) {
    const path = join(folder, name)
    const run = await readRun(path)
    if (run) found.push(run)
    else await rm(path, { force: true })
  }
  return found
}

async function readRun(path: string): Promise<NotedRun | undefined> {
  try {
    const noted = decode(await readFile(path))
    if (!isFields(noted)) return undefined
    const { jid, fun, user, owner, fun_args, store, detached, ended } = noted
    const identity = readIdentity(noted)
    if (!identity) return undefined
    const { born } = identity
    return {
      ...{ jid: String(jid), fun: String(fun), user: String(user), ...identity, path },
      ...(typeof owner === 'string' && { owner }),
      ...{ fun_args: Array.isArray(fun_args) ? fun_args : [], store: store === true },
      detached: detached === true,
      ...(isFields(ended) && { ended: ended as unknown as RunReturn }),
      alive: born === undefined ? existsSync(`/proc/${identity.pid}`) : isRunning(identity),
    }
  } catch {
    return undefined
  }
}
