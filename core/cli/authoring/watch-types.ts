import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'
import { FolderWatch } from '../watch/folder-watch.ts'

/** Write the types of a folder of modules, and again whenever one of its files is saved, until Ctrl-C. */
export async function watchTypes(folder: string): Promise<number> {
  const watch = await FolderWatch.open([folder])
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
  const aborted = once(interrupted.signal, 'abort')
  printNote('Writes the types again when a file is saved, until Ctrl-C.')
  try {
    while (!interrupted.signal.aborted) {
      await writeInChild(folder, interrupted.signal)
      await Promise.race([nextSource(watch), aborted])
    }
  } finally {
    watch.close()
  }
  return exitCodes.interrupted
}

/** Write in a process of its own: a file that has to be imported is imported as it is now. */
async function writeInChild(folder: string, signal: AbortSignal): Promise<void> {
  const program = process.argv[1] ?? 'salt-ts'
  const child = spawn(process.execPath, [...process.execArgv, program, 'types', folder], {
    stdio: 'inherit',
    signal,
  })
  await once(child, 'close').catch(() => undefined)
}

/** Wait until another file was saved than the one that is written. */
async function nextSource(watch: FolderWatch): Promise<void> {
  const isSource = (file: string) => path.basename(file) !== '_catalogue.d.ts'
  while (!(await watch.next()).some(isSource)) {}
}
