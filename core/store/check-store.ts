import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { SaltError } from '../base/errors.ts'
import { moveAside } from './environment.ts'

const run = promisify(execFile)

/** Reads every byte of every record; may die of what it reads, so it runs in a process of its own. */
const readAll = `
const [lmdb, path] = process.argv.slice(1)
const { open } = await import(lmdb)
const store = open(path, { encoding: 'binary', noSubdir: true, readOnly: true })
for (const { value } of store.getRange({})) value.at(-1) // all of it was copied
`

/**
 * Read a store once from end to end before it is used. A file whose inner structure is damaged ends the process that
 * reads it, so a child reads it; if that one dies, the file is moved aside and the error that says so is given.
 * Call it where nothing has the store open yet. Damaged single records are found on reading and need no check.
 */
export async function checkStore(path: string): Promise<SaltError | undefined> {
  if (!existsSync(path)) return undefined
  const lmdb = import.meta.resolve('lmdb')
  try {
    await run(process.execPath, ['--input-type=module', '-e', readAll, lmdb, path])
    return undefined
  } catch (error) {
    const { signal, stderr = '' } = error as { signal?: string | null; stderr?: string }
    const reason = signal
      ? `reading it ended with ${signal}`
      : (stderr.match(/Error: (.*)/)?.[1] ?? 'it cannot be read')
    return moveAside(path, reason)
  }
}
