import { writeSync } from 'node:fs'
import { inspect } from 'node:util'

/**
 * A process cannot exit during a commit: Node waits for the committing thread, which holds the lock of the store and waits
 * for the event loop, which has stopped. Such a process would hang forever and block all others. So it is killed instead:
 * the system then releases the lock, and the store is as before the commit.
 */

let commits = 0
let installed = false
/** The uncaught error that ends this process. Node would print it only after the listeners of `exit`. */
let fatal: { readonly error: unknown } | undefined

/** Wait for a commit. If the process exits meanwhile (`process.exit`, an uncaught error), it kills itself with SIGKILL. */
export async function commitOrKill(commit: () => Promise<unknown>): Promise<void> {
  install()
  commits++
  try {
    await commit()
  } finally {
    commits--
  }
}

function install(): void {
  if (installed) return
  installed = true
  process.on('uncaughtExceptionMonitor', (error) => {
    fatal = { error }
  })
  process.on('exit', () => {
    if (commits === 0) return
    if (fatal) writeSync(2, `${inspect(fatal.error)}\n`)
    process.kill(process.pid, 'SIGKILL')
  })
}
