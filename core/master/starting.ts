import type { ChildProcess } from 'node:child_process'
import type { Log } from '../author/context.ts'
import { isWorking } from './is-working.ts'

/** So often it is told that a child is not ready yet; milliseconds. */
const LOOK_MS = 10_000
/** A child that was not at work in so many looks in a row waits for what never comes. */
const MAX_IDLE = 6

/**
 * Watch a child that starts, as long as the timer runs: tell that it is waited for, and kill it when it hangs. It
 * cannot say so itself: opening a store that another process keeps locked holds its event loop.
 */
export function watchStart(
  child: Pick<ChildProcess, 'pid' | 'kill'>,
  name: string,
  log: Log,
  lookMs = LOOK_MS,
): NodeJS.Timeout {
  const started = performance.now()
  let idle = 0
  return setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000)
    const atWork = isWorking(child.pid)
    idle = atWork ? 0 : idle + 1
    if (idle < MAX_IDLE)
      return log.warn(
        `${name} is not ready ${seconds} seconds after its start: it ${atWork ? 'is at work' : 'waits'}.`,
      )
    log.error(
      `${name} hangs in its start, ${seconds} seconds after it, and is killed. Another process may keep a store locked.`,
    )
    child.kill('SIGKILL')
  }, lookMs)
}
