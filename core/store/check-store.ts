import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { SaltError } from '../base/errors.ts'
import { processEntry } from '../base/process-entry.ts'
import { moveAside } from './environment.ts'

const run = promisify(execFile)

/** A daemon is not kept from its start longer, as by somebody who holds the lock of a store. */
const TIMEOUT_MS = 120_000

/** Exit code of the process that looks. Whatever else it ends with says nothing of a store. */
export const DAMAGED = 65

const entry = processEntry(import.meta.url, 'check-process')

interface ChildError {
  readonly signal?: string | null
  /** The exit code, or why it could not be started. */
  readonly code?: number | string | null
  readonly stderr?: string
}

const CRASHES = new Set(['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE'])

/**
 * Read a store once from end to end, and write to it, before it is used. A file whose inner structure is damaged ends
 * the process that reads it, so a child reads it; if that one dies, the file is moved aside and the error that says so
 * is given. Call it where nothing has the store open yet. Damaged single records are found on reading and need no check.
 */
export async function checkStore(path: string): Promise<SaltError | undefined> {
  if (!existsSync(path)) return undefined
  try {
    await readInChild([path])
    return undefined
  } catch (error) {
    const { signal, code, stderr = '' } = error as ChildError
    // It could not be started, or it was ended (Ctrl-C reaches it, too): that says nothing of the file.
    if (signal ? !CRASHES.has(signal) : code !== DAMAGED) return undefined
    const reason = signal ? `reading it ended with ${signal}` : stderr
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
  await run(process.execPath, [entry, ...paths], { timeout: TIMEOUT_MS })
}
