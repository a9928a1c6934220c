/**
 * Salt's job cache on disk, below `cachedir`, in the format of Python Salt: each reads what the other wrote. The file of a return
 * has the whole return, of which Python reads `return`, `retcode` and `success`. Several files are not written atomically; a retry
 * completes them.
 */
import { createHash } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type LoadRecord,
  type Log,
  type ReturnRecord,
  returner,
  safeName,
  UnsavableError,
  writeFileAtomic,
} from 'salt-ts'
import { fromMsgpack, isoOfTimeText, mapConcurrently, msgpack, timeText } from '#internal'
import { type Fields, isRecord } from './_fields.ts'
import { ageOf, ifExists, jidIn, jobFolders, MINIONS, makeFolder, namesIn } from './_job-folder.ts'
import { firstJobs } from './_jobs.ts'

const LOAD = '.load.p'
const RETURN = 'return.p'
const OUT = 'out.p'
/** A text file with a time in Salt's format. */
const ENDTIME = 'endtime'
/** Names of files of a job, which a minion's folder cannot have. */
const TAKEN = ['jid', 'nocache', ENDTIME]
/** Returns written at once. Each waits for the disk twice, and concurrent waits cost little more than one. */
const AT_ONCE = 32

export default returner({
  options: {},
  create({ opts, log }) {
    const folders = jobFolders(String(opts.cachedir), String(opts.hash_type ?? 'sha256'))

    async function save(ret: ReturnRecord): Promise<void> {
      const job = await folders.make(ret.jid)
      if ((await namesIn(job)).includes('nocache')) return
      const folder = join(job, folderName(ret.id))
      await makeFolder(folder)
      const { jid: _, id: __, ...rest } = ret
      await writeFileAtomic(join(folder, RETURN), msgpack(rest))
      if (typeof ret.out === 'string') await writeFileAtomic(join(folder, OUT), msgpack(ret.out))
      else await rm(join(folder, OUT), { force: true })
    }

    async function saveMinions(jid: string, name: string, minions: readonly string[]): Promise<void> {
      await writeFileAtomic(join(await folders.make(jid), name), msgpack([...minions]))
    }

    const getLoad = (jid: string) => readLoad(jid, folders.of(jid), log)

    async function newestFirst(): Promise<readonly string[]> {
      const jids = await mapConcurrently(await folders.all(), jidIn, AT_ONCE)
      return jids
        .filter((jid) => jid !== undefined)
        .sort()
        .reverse()
    }

    async function* getJids(): AsyncGenerator<LoadRecord> {
      for (const jid of await newestFirst()) {
        const job = await getLoad(jid)
        if (job) yield job
      }
    }

    return {
      save,
      saveBatch: async (rets) => void (await mapConcurrently(rets, save, AT_ONCE)),
      async saveLoad({ jid, load, minions }) {
        await writeFileAtomic(join(await folders.make(jid), LOAD), msgpack(load))
        await saveMinions(jid, `${MINIONS}.p`, minions)
      },
      /** Write a file for each list, so that writers do not conflict. Python reads the files as those of syndics. */
      saveMinions: (jid, minions) => saveMinions(jid, `${MINIONS}.${digest(minions)}.p`, minions),
      updateEndtime: async (jid, time) =>
        writeFileAtomic(join(await folders.make(jid), ENDTIME), timeText(time)),
      getLoad,
      async getJid(jid) {
        const folder = folders.of(jid)
        const [load, names] = await Promise.all([readMap(join(folder, LOAD), log), namesIn(folder)])
        const ids = names.filter((name) => !name.startsWith('.') && !TAKEN.includes(name))
        const found = await mapConcurrently(
          ids,
          (id) => readReturn(join(folder, id), { jid, id }, load ?? {}, log),
          AT_ONCE,
        )
        return found.filter((ret) => ret !== undefined)
      },
      getJids,
      getJidsFilter: (count, filterFindJob) => firstJobs(getJids(), count, filterFindJob),
      async cleanOldJobs(before) {
        for (const folder of await folders.all()) {
          const age = await ageOf(folder)
          if (age && age < before) await rm(folder, { recursive: true, force: true })
        }
      },
      remove: (jid) => rm(folders.of(jid), { recursive: true, force: true }),
    }
  },
})

/** @throws UnsavableError for an id that cannot name a folder beside the files of the job. */
function folderName(id: string): string {
  const name = safeName(id)
  if (name === undefined || name.startsWith('.') || TAKEN.includes(name))
    throw new UnsavableError(
      `The minion id ${JSON.stringify(id)} cannot be the name of a folder in the job cache.`,
    )
  return name
}

const digest = (minions: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([...minions].sort()))
    .digest('hex')
    .slice(0, 16)

async function readLoad(jid: string, folder: string, log: Log): Promise<LoadRecord | undefined> {
  const load = await readMap(join(folder, LOAD), log)
  if (!load) return undefined
  const lists = (await namesIn(folder)).filter(
    (name) => name.startsWith(`${MINIONS}.`) && name.endsWith('.p'),
  )
  const minions = await mapConcurrently(lists, (name) => read(join(folder, name), log))
  const ids = minions.flat().filter((id) => typeof id === 'string')
  const endtime = isoOfTimeText(String((await ifExists(readFile(join(folder, ENDTIME)))) ?? ''))
  return { jid, load, minions: [...new Set(ids)].sort(), ...(endtime !== undefined && { endtime }) }
}

/** Read a return. Python leaves out what the load has; old versions wrote only the value. */
async function readReturn(
  folder: string,
  key: { jid: string; id: string },
  load: Fields,
  log: Log,
): Promise<ReturnRecord | undefined> {
  const value = await read(join(folder, RETURN), log)
  if (value === undefined) return undefined
  const ret: Fields = isRecord(value) && 'return' in value ? value : { return: value }
  const out = ret.out ?? (await read(join(folder, OUT), log))
  const retcode = typeof ret.retcode === 'number' ? ret.retcode : 0
  return {
    fun: String(load.fun ?? ''),
    fun_args: Array.isArray(load.arg) ? load.arg : [],
    return: ret.return,
    success: retcode === 0,
    ...ret,
    ...(out !== undefined && { out }),
    ...key,
    retcode,
  }
}

async function readMap(file: string, log: Log): Promise<Fields | undefined> {
  const value = await read(file, log)
  return isRecord(value) ? value : undefined
}

/** Read a file; undefined if it is missing or damaged. */
async function read(file: string, log: Log): Promise<unknown> {
  const bytes = await ifExists(readFile(file))
  if (!bytes) return undefined
  try {
    return fromMsgpack(bytes)
  } catch (error) {
    log.warn(`The file ${file} of the job cache is damaged and skipped: ${(error as Error).message}`)
    return undefined
  }
}
