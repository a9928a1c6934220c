import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import { FolderWatch } from './folder-watch.ts'
import { ImportedFiles } from './imported-files.ts'

/** How long a run has to end before it is killed. */
const KILL_AFTER_MS = 1000

/**
 * Run a command, and again whenever a file below one of the folders is saved that it imports or may lack, until
 * Ctrl-C. Each run is a process of its own. It may fail or crash; a run that is still active at the next change is
 * stopped.
 */
export async function runOnChange(command: readonly string[], folders: readonly string[]): Promise<number> {
  const watch = await FolderWatch.open(folders)
  const imported = await ImportedFiles.open()
  try {
    return await runUntilInterrupted(command, watch, imported)
  } finally {
    watch.close()
    await imported.close()
  }
}

async function runUntilInterrupted(
  command: readonly string[],
  watch: FolderWatch,
  imported: ImportedFiles,
): Promise<number> {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const aborted = once(interrupted.signal, 'abort')
  printNote(separator('runs again when a file it imports is saved, until Ctrl-C'))
  while (!interrupted.signal.aborted) {
    const changed = new AbortController()
    await imported.begin()
    const run = runOnce(command, imported.env, AbortSignal.any([changed.signal, interrupted.signal]))
    const saved = await Promise.race([nextChange(watch, imported, run), aborted])
    changed.abort()
    await run
    if (typeof saved === 'string') printNote(separator(`${path.relative('.', saved)} was saved`))
  }
  return exitCodes.interrupted
}

/** Wait for a saved file that causes another run. */
async function nextChange(
  watch: FolderWatch,
  imported: ImportedFiles,
  run: Promise<boolean>,
): Promise<string> {
  let failed = false
  void run.then((ok) => {
    failed = !ok
  })
  for (;;) {
    const saved = await watch.next()
    const file = await imported.firstRelevant(saved, failed)
    if (file !== undefined) return file
  }
}

function separator(text: string): string {
  const [time] = new Date().toTimeString().split(' ')
  return `── ${time} ${text} `.padEnd(80, '─')
}

/**
 * Run the command once and return whether it succeeded. Its output is shown; its end is reported only if a signal
 * caused it.
 */
async function runOnce(
  [program = '', ...args]: readonly string[],
  env: Record<string, string>,
  end: AbortSignal,
): Promise<boolean> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>
  let killing: NodeJS.Timeout | undefined
  const stop = () => {
    child.kill()
    killing = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  }
  end.addEventListener('abort', stop)
  const [code, signal] = await exited
  end.removeEventListener('abort', stop)
  clearTimeout(killing)
  if (signal !== null && !end.aborted) printNote(`The run was ended by ${signal}.`)
  return code === 0
}

/** Return the npm package that a folder belongs to, whose files it may import; the folder itself if there is none. */
export function packageOf(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, 'package.json'))) return at
    if (at === path.dirname(at)) return folder
  }
}
