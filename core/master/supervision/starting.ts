import type { Log } from '../../author/context.ts'
import { workOf } from '../../process/silence.ts'

/** How often to log that a child is not ready yet. */
const CHECK_INTERVAL_MS = 10_000
/** A child that was idle at this many checks in a row hangs. */
const MAX_IDLE_CHECKS = 6

/**
 * Watch a starting child while the returned timer runs: log that it is not ready, and kill it if it hangs. It cannot
 * report that itself: opening a store that another process keeps locked blocks its event loop.
 */
export function watchStart(
  child: { readonly pid?: number | undefined; kill(signal: NodeJS.Signals): unknown },
  name: string,
  log: Log,
  checkMs = CHECK_INTERVAL_MS,
): NodeJS.Timeout {
  const started = performance.now()
  let idle = 0
  return setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000)
    const { isWorking } = workOf(child.pid)
    idle = isWorking ? 0 : idle + 1
    if (idle < MAX_IDLE_CHECKS)
      return log.warn(
        `${name} is not ready ${seconds} seconds after its start: it is ${isWorking ? 'working' : 'waiting'}.`,
      )
    log.error(
      `${name} has not become ready in ${seconds} seconds and is killed. Another process may keep a store locked.`,
    )
    child.kill('SIGKILL')
  }, checkMs)
}
