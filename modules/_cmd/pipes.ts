import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
const run = promisify(execFile)

/** File descriptors of a pipe's ends: `ours` is read without blocking, `theirs` is passed to the program. */
export interface Pipe {
  readonly ours: number
  readonly theirs: number
}

/** Number of pipes that are made at once: starting mkfifo takes about as long as starting the command itself. */
const MADE_AT_ONCE = 8
/** Pipes that were made and are not used yet. */
const spare: Pipe[] = []

/**
 * Open real pipes. Node's own stdio "pipes" are sockets, on which `echo >/dev/stderr` fails, and which two file
 * descriptors of a child cannot share. A FIFO whose name has been removed is an ordinary pipe.
 * Resolves to undefined if none can be made (no mkfifo, no writable folder).
 */
export async function openPipes(count: 1 | 2): Promise<Pipe[] | undefined> {
  if (spare.length < count) spare.push(...((await makePipes()) ?? []))
  return spare.length < count ? undefined : spare.splice(0, count)
}

function makePipes(): Promise<Pipe[] | undefined> {
  return inPrivateFolder(async (folder) => {
    const paths = Array.from({ length: MADE_AT_ONCE }, (_, index) => join(folder, String(index)))
    // Everyone may open the FIFOs, so that a command of another user can reopen /dev/stdout; the folder stays private.
    await run('mkfifo', ['-m', '666', ...paths], { timeout: 5000 })
    return openAll(paths)
  })
}

/** Open a file without a name that holds the input. Like a shell's here-document, it can be reopened as /dev/stdin. */
export function openInput(bytes: Buffer): Promise<number | undefined> {
  return inPrivateFolder(async (folder) => {
    const path = join(folder, 'input')
    await writeFile(path, bytes, { mode: 0o644 })
    return openSync(path, O_RDONLY)
  })
}

// Memory file systems come first: they keep secrets off the disk, and `df` must also run when the disk is full.
async function inPrivateFolder<T>(use: (folder: string) => Promise<T>): Promise<T | undefined> {
  for (const parent of ['/dev/shm', tmpdir(), '/run']) {
    const folder = await mkdtemp(join(parent, 'salt-cmd-')).catch(() => undefined)
    if (folder === undefined) continue
    try {
      return await use(folder)
    } catch {
      // Try the next folder.
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  return undefined
}

// Opening one end of a FIFO blocks until the other is open, except for non-blocking reads: so the read end comes first.
function openAll(paths: readonly string[]): Pipe[] {
  const opened: number[] = []
  const open = (path: string, flags: number) => opened[opened.push(openSync(path, flags)) - 1]!
  try {
    return paths.map((path) => {
      const ours = open(path, O_RDONLY | O_NONBLOCK)
      return { ours, theirs: open(path, O_WRONLY) }
    })
  } catch (cause) {
    for (const fd of opened) closeSync(fd)
    throw cause
  }
}
