/**
 * `npm start`: run a master and a minion on free loopback ports, with all state under `./.salt`, and show what they
 * do. With `--once`, end after that.
 */
import { resolve } from 'node:path'
import { deferred } from '../base/deferred.ts'
import { messageOf } from '../base/errors.ts'
import { type Folder, openFolder } from './start/folder.ts'
import { openPrograms } from './start/programs.ts'
import { say, tour } from './start/tour.ts'

/** Exit code after Ctrl-C. */
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
  const programs = openPrograms(folder.path, interrupted)
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
    showing.catch(() => undefined) // interrupted steps fail, which is not an error
    await Promise.race([showing, interrupted, programs.failed])
    return shown ? 0 : INTERRUPTED
  } finally {
    await programs.stop()
    await folder.discard()
  }
}

/** Resolves on Ctrl-C, when the terminal is closed, or when the reader of the output closes the pipe. */
function onInterrupt(): Promise<void> {
  const asked = deferred()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => asked.resolve()) // `on`, not `once`: npm repeats signals of the terminal
  }
  process.stdout.on('error', () => asked.resolve())
  return asked.promise
}

process.exit(await main(process.argv.includes('--once')))
