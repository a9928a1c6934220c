import { writeSync } from 'node:fs'
import { inspect } from 'node:util'

/**
 * A process cannot exit during a commit: Node waits for the committing thread, which holds the lock of the store and waits
 * for the event loop, which has stopped. Such a process would hang forever and block all others. So it is killed instead:
 * the system then releases the lock, and the store is as before the commit. Without a commit under way, the files that are open
 * are closed.
 */

let commits = 0
let installed = false
const closes = new Set<() => void>()
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

/** Call `close` if the process exits. Returns the function to call if it was closed before. */
export function closeOnExit(close: () => void): () => void {
  install()
  closes.add(close)
  return () => closes.delete(close)
}

function install(): void {
  if (installed) return
  installed = true
  process.on('uncaughtExceptionMonitor', (error) => {
    fatal = { error }
  })
  process.on('exit', () => {
    if (commits > 0) {
      if (fatal) writeSync(2, `${inspect(fatal.error)}\n`)
      process.kill(process.pid, 'SIGKILL')
    }
    for (const close of closes) close()
  })
}
