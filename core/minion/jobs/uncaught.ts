/**
 * Makes an uncaught exception of a function, a call of `process.exit`, or a wait without an end in a process that has nothing else
 * to do, a failure of that function instead of the end of its process.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import type { Log } from '../../author/context.ts'
import { deferred } from '../../base/deferred.ts'
import { SaltError, traceOf } from '../../base/errors.ts'

interface Guarded {
  /** Let the function fail with a reason. */
  fail(reason: string): void
}

/** Time that a function has to end after it failed in this way. */
const GRACE_MS = 1000

const NOTHING_LEFT =
  'The minion function waits for a promise that nothing in its process will ever resolve or reject.'

const guarded = new AsyncLocalStorage<Guarded>()
let isInstalled = false
/** The only guarded function of this process. Errors of unknown origin are attributed to it. */
let only: Guarded | undefined

export interface GuardSettings<T> {
  /** Aborted with the reason. */
  readonly abort: AbortController
  readonly log: Log
  /** True if nothing else runs in this process. */
  readonly alone?: boolean
  /** Make the result of a function that does not end after the abort. */
  failed(reason: string): T
}

/** Keep a job process alive: errors that no function caused are only logged. */
export function surviveUncaughtErrors(log: Log): void {
  install()
  only = { fail: (reason) => log.error(reason) }
}

/** Run functions until they have finished, or have failed by an uncaught error, `process.exit` or a wait without an end. */
export async function runGuarded<T>(work: () => Promise<T>, settings: GuardSettings<T>): Promise<T> {
  const { abort, log, alone = false, failed } = settings
  install()
  const givenUp = deferred<T>()
  let over = false
  let leaving: NodeJS.Timeout | undefined
  const guard: Guarded = {
    fail(reason) {
      if (over) log.error(reason)
      if (over || abort.signal.aborted) return
      abort.abort(new SaltError('CANCELLED', reason))
      leaving = setTimeout(() => givenUp.resolve(failed(reason)), GRACE_MS)
    },
  }
  if (alone) only = guard
  const onNothingLeft = () => guard.fail(NOTHING_LEFT)
  process.on('beforeExit', onNothingLeft)
  try {
    return await Promise.race([guarded.run(guard, work), givenUp.promise])
  } finally {
    over = true
    process.off('beforeExit', onNothingLeft)
    clearTimeout(leaving)
  }
}

function install(): void {
  if (isInstalled) return
  isInstalled = true
  const exit = process.exit.bind(process)
  process.exit = (code) => {
    const guard = guarded.getStore()
    if (!guard) return exit(code)
    const reason = `The minion function ended its process (process.exit, exit code ${code ?? process.exitCode ?? 0}); it should throw an error, or set 'retcode' of its context.`
    guard.fail(reason)
    throw new SaltError('CANCELLED', reason)
  }
  syncBuiltinESMExports() // for import { exit } from 'node:process'
  process.on('uncaughtException', onUncaught)
  process.on('unhandledRejection', onUncaught)
}

function onUncaught(thrown: unknown): void {
  const guard = guarded.getStore() ?? only
  if (guard) guard.fail(`The minion function caused an exception that nothing caught: ${traceOf(thrown)}`)
  else if (process.listenerCount('uncaughtException') === 1) crash(thrown)
}

/** Crash because of an error that no guarded function caused, as Node would without these listeners. */
function crash(thrown: unknown): void {
  process.off('uncaughtException', onUncaught)
  process.off('unhandledRejection', onUncaught)
  setImmediate(() => {
    throw thrown
  })
}
