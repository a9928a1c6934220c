import { writeSync } from 'node:fs'
import { inspect } from 'node:util'

/**
 * A process cannot leave amid a commit. At its end Node waits for the thread that commits; that one holds the lock of
 * the store and waits for the event loop, which turns no more. Such a process would stay for ever, and keep everybody
 * else from the store. So it is killed instead: the system then passes the lock on, and the store is as before.
 */

let underWay = 0
let installed = false
/** What ends this process; Node would tell of it after the listeners of `exit`. */
let fatal: { readonly error: unknown } | undefined

/** Waits for a commit; if the process ends meanwhile (process.exit, an uncaught error), it does so by SIGKILL. */
export async function guardCommit(commit: () => Promise<unknown>): Promise<void> {
  install()
  underWay++
  try {
    await commit()
  } finally {
    underWay--
  }
}

function install(): void {
  if (installed) return
  installed = true
  process.on('uncaughtExceptionMonitor', (error) => {
    fatal = { error }
  })
  process.on('exit', () => {
    if (underWay === 0) return
    if (fatal) writeSync(2, `${inspect(fatal.error)}\n`)
    process.kill(process.pid, 'SIGKILL')
  })
}
