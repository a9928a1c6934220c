import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { SaltError } from '../base/errors.ts'
import { moveAside } from './environment.ts'

const run = promisify(execFile)

/**
 * Reads every byte of every record, then writes and removes one: what keeps account of free pages is read only by who
 * writes. May die of what it reads, so it runs in a process of its own. That there is no room to write says nothing.
 */
const readAll = `
const [lmdb, ...paths] = process.argv.slice(1)
const { open } = await import(lmdb)
for (const path of paths) {
  const store = open(path, { encoding: 'binary', noSubdir: true, overlappingSync: false, permissionsMode: 0o600 })
  for (const { value } of store.getRange({})) value.at(-1) // all of it was copied
  try {
    store.transactionSync(() => {
      store.putSync(['check'], Buffer.alloc(2 ** 18))
      store.removeSync(['check'])
    })
  } catch (error) {
    if (/CORRUPTED|PAGE_NOTFOUND|INVALID/.test(error.message)) throw error
  }
}
`

interface ChildError {
  readonly signal?: string | null
  /** The exit code, or why it could not be started. */
  readonly code?: number | string | null
  readonly stderr?: string
}

const CRASHES = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE'])

/**
 * Read a store once from end to end, and write to it, before it is used. A file whose inner structure is damaged ends the process that
 * reads it, so a child reads it; if that one dies, the file is moved aside and the error that says so is given.
 * Call it where nothing has the store open yet. Damaged single records are found on reading and need no check.
 */
export async function checkStore(path: string): Promise<SaltError | undefined> {
  if (!existsSync(path)) return undefined
  try {
    await readInChild([path])
    return undefined
  } catch (error) {
    const { signal, code, stderr = '' } = error as ChildError
    // It could not be started, or somebody ended it (Ctrl-C reaches it, too): that says nothing of the file.
    if (signal ? !CRASHES.has(signal) : typeof code !== 'number') return undefined
    const reason = signal
      ? `reading it ended with ${signal}`
      : (stderr.match(/Error: (.*)/)?.[1] ?? 'it cannot be read')
    return moveAside(path, reason)
  }
}

/** The same for several. Whole ones, as nearly always, cost one child together. */
export async function checkStores(paths: readonly string[]): Promise<SaltError[]> {
  const present = paths.filter((path) => existsSync(path))
  if (present.length === 0) return []
  try {
    await readInChild(present)
    return []
  } catch {
    return (await Promise.all(present.map(checkStore))).filter((damage) => damage !== undefined)
  }
}

async function readInChild(paths: readonly string[]): Promise<void> {
  await run(process.execPath, ['--input-type=module', '-e', readAll, import.meta.resolve('lmdb'), ...paths])
}
