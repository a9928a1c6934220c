/** What a function does not catch, or `process.exit` in it, is its failure and not the end of the process it runs in. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import type { Log } from '../author/context.ts'
import { deferred } from '../base/deferred.ts'
import { SaltError, traceOf } from '../base/errors.ts'

interface Guarded {
  /** The function fails, for a reason. */
  fail(reason: string): void
}

/** A function that failed so has so long to end by itself. Milliseconds. */
const GRACE_MS = 1000

const guarded = new AsyncLocalStorage<Guarded>()
let isInstalled = false
/** The only one of this process, which what nobody else is known to have done is laid to. */
let only: Guarded | undefined

export interface GuardSettings<T> {
  /** Aborted with the reason. */
  readonly abort: AbortController
  readonly log: Log
  /** Nothing else happens in this process. */
  readonly alone?: boolean
  /** What comes of a function that does not end, though it is told to. */
  failed(reason: string): T
}

/** For a process that is there for jobs: what none of them has done is an error in its log. */
export function outliveErrors(log: Log): void {
  install()
  only = { fail: (reason) => log.error(reason) }
}

/** Run functions until they are done, or have failed in a way that they cannot tell themselves. */
export async function guard<T>(work: () => Promise<T>, settings: GuardSettings<T>): Promise<T> {
  const { abort, log, alone = false, failed } = settings
  install()
  const givenUp = deferred<T>()
  let over = false
  let leaving: NodeJS.Timeout | undefined
  const own: Guarded = {
    fail(reason) {
      if (over) log.error(reason)
      if (over || abort.signal.aborted) return
      abort.abort(new SaltError('CANCELLED', reason))
      leaving = setTimeout(() => givenUp.resolve(failed(reason)), GRACE_MS)
    },
  }
  if (alone) only = own
  try {
    return await Promise.race([guarded.run(own, work), givenUp.promise])
  } finally {
    over = true
    clearTimeout(leaving)
  }
}

function install(): void {
  if (isInstalled) return
  isInstalled = true
  const exit = process.exit.bind(process)
  process.exit = (code) => {
    const own = guarded.getStore()
    if (!own) return exit(code)
    const reason = `The minion function ended its process (process.exit, exit code ${code ?? process.exitCode ?? 0}); it should throw an error, or set 'retcode' of its context.`
    own.fail(reason)
    throw new SaltError('CANCELLED', reason)
  }
  syncBuiltinESMExports() // for import { exit } from 'node:process'
  process.on('uncaughtException', onUncaught)
  process.on('unhandledRejection', onUncaught)
}

function onUncaught(thrown: unknown): void {
  const own = guarded.getStore() ?? only
  if (own) own.fail(`The minion function caused an exception that nothing caught: ${traceOf(thrown)}`)
  else if (process.listenerCount('uncaughtException') === 1) crash(thrown)
}

/** Of what is none of a function the process dies, as it would without this. */
function crash(thrown: unknown): void {
  process.off('uncaughtException', onUncaught)
  process.off('unhandledRejection', onUncaught)
  setImmediate(() => {
    throw thrown
  })
}
