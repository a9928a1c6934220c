/**
 * `npm start`: a master and a minion on free loopback ports, all state under `./.salt`, and a first look at what they
 * do. `--once` ends after that look.
 */
import { resolve } from 'node:path'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { type Folder, openFolder } from './start/folder.ts'
import { openPrograms } from './start/programs.ts'
import { say, tour } from './start/tour.ts'

/** Exit code of a program that Ctrl-C ended before it was done. */
const INTERRUPTED = 130

const goodbye = `
Master and minion are running. From another terminal, in this folder:

  bin/salt -c .salt '*' test.ping
  bin/salt-run -c .salt event.listen
  bin/salt-key -c .salt -L

Ctrl-C stops them.`

async function main(once: boolean): Promise<number> {
  const interrupted = onInterrupt()
  try {
    const folder = await openFolder(resolve('.salt'))
    return await runIn(folder, once, interrupted)
  } catch (error) {
    process.stderr.write(`\nnpm start failed: ${messageOf(error)}\n`)
    return 1
  }
}

async function runIn(folder: Folder, once: boolean, interrupted: Promise<void>): Promise<number> {
  const programs = openPrograms(folder.path)
  let shown = false
  const show = async () => {
    await tour(folder, programs)
    shown = true
    if (once) return
    say(goodbye)
    await interrupted
  }
  try {
    const showing = show()
    showing.catch(() => undefined) // what was interrupted fails, and nobody minds
    await Promise.race([showing, interrupted, programs.failed])
    return shown ? 0 : INTERRUPTED
  } finally {
    await programs.stop()
    await folder.discard()
  }
}

/** Resolves when somebody wants this to end: Ctrl-C, a closed terminal, or a pipe nobody reads any more. */
function onInterrupt(): Promise<void> {
  const asked = deferred()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => asked.resolve()) // `on`: npm passes on what the terminal has sent already
  }
  process.stdout.on('error', () => asked.resolve())
  return asked.promise
}

process.exit(await main(process.argv.includes('--once')))
