/**
 * Helper processes for calls that block or may crash: PAM, and slow password hashes. Each handles one request at a time; one
 * that hangs or dies is replaced. Requests travel over the IPC channel alone, never in arguments or the environment.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beforeDeadline, type DeadlineSettings } from './_deadline.ts'

export type HelperAnswer<A> = { readonly answer: A } | { readonly failure: string }

export interface Helpers<Q, A> {
  /** Rejects if the helper reports a failure, ends, or does not answer in time. */
  ask(request: Q, patience: DeadlineSettings): Promise<A>
  /** Resolves when all helpers have ended. A later request starts new ones. */
  close(): Promise<void>
}

export interface HelpersChoice {
  /** Maximum number of helpers at once. */
  readonly most?: number
  /** Maximum number of requests that wait for a helper; further ones are refused. */
  readonly waiting?: number
  /** A helper that has been idle this long ends. Milliseconds. */
  readonly idleMs?: number
}

class NotSent extends Error {}

interface Helper {
  readonly process: ChildProcess
  idle?: NodeJS.Timeout
}

/** `entry` is the name, without extension, of the file beside this one that helpers run. They are started on demand. */
export function helpers<Q extends object, A>(
  entry: string,
  { most = 2, waiting = 100, idleMs = 60_000 }: HelpersChoice = {},
): Helpers<Q, A> {
  const all = new Set<Helper>()
  const idle: Helper[] = []
  const queue = new Set<() => void>()

  function start(): Helper {
    const helper: Helper = { process: forked(entry) }
    all.add(helper)
    helper.process.once('exit', () => forget(helper))
    helper.process.on('error', () => forget(helper))
    return helper
  }
  function forget(helper: Helper): void {
    clearTimeout(helper.idle)
    if (!all.delete(helper)) return
    if (idle.includes(helper)) idle.splice(idle.indexOf(helper), 1)
    next()
  }
  function end(helper: Helper): void {
    helper.process.kill('SIGKILL')
    forget(helper)
  }
  /** Let the next request in the queue proceed. */
  function next(): void {
    const [first] = queue
    if (!first) return
    queue.delete(first)
    first()
  }
  async function taken(signal: AbortSignal): Promise<{ helper: Helper; isNew: boolean }> {
    while (idle.length === 0 && all.size >= most) {
      if (queue.size >= waiting) throw new Error(`${waiting} requests are waiting already`)
      await new Promise<void>((turn) => {
        queue.add(turn)
        signal.addEventListener('abort', () => queue.delete(turn), { once: true })
      })
      if (signal.aborted) {
        next()
        throw signal.reason
      }
    }
    const used = idle.pop()
    const helper = used ?? start()
    clearTimeout(helper.idle)
    hold(helper)
    return { helper, isNew: used === undefined }
  }
  function release(helper: Helper): void {
    if (!all.has(helper)) return
    idle.push(helper)
    letGo(helper)
    helper.idle = setTimeout(() => end(helper), idleMs).unref()
    next()
  }

  return {
    ask: (request, patience) =>
      beforeDeadline(patience, async (signal) => {
        for (;;) {
          const { helper, isNew } = await taken(signal)
          const hung = () => end(helper)
          signal.addEventListener('abort', hung, { once: true })
          try {
            return await answerOf<A>(helper.process, request)
          } catch (error) {
            // The helper had died while it was idle.
            if (!(error instanceof NotSent) || isNew) throw error
            end(helper)
          } finally {
            signal.removeEventListener('abort', hung)
            release(helper)
          }
        }
      }),
    async close() {
      const gone = [...all]
        .filter(({ process }) => isRunning(process))
        .map(({ process }) => once(process, 'exit'))
      for (const helper of [...all]) {
        hold(helper)
        end(helper)
      }
      await Promise.all(gone)
    },
  }
}

const forked = (entry: string): ChildProcess => {
  const folder = import.meta.url.endsWith('.ts') ? '../../dist/plugins/auth' : '.'
  return fork(fileURLToPath(new URL(`${folder}/${entry}.js`, import.meta.url)), [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
    env: { PATH: process.env.PATH ?? '' },
  })
}

const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null

/** Let this process end while the helper is idle. */
function letGo({ process }: Helper): void {
  process.unref()
  process.channel?.unref()
}
function hold({ process }: Helper): void {
  process.ref()
  process.channel?.ref()
}

function answerOf<A>(helper: ChildProcess, request: object): Promise<A> {
  return new Promise((done, fail) => {
    const settle = (work: () => void) => {
      helper.off('message', said)
      helper.off('exit', ended)
      helper.off('error', fail)
      work()
    }
    const said = (message: unknown) => {
      const reply = message as HelperAnswer<A>
      settle(() => ('failure' in reply ? fail(new Error(reply.failure)) : done(reply.answer)))
    }
    let sent = false
    const ended = (code: number | null, signal: string | null) => {
      const text = `the helper process ended (${signal ?? code})`
      settle(() => fail(sent ? new Error(text) : new NotSent(text)))
    }
    helper.on('message', said)
    helper.on('exit', ended)
    helper.on('error', fail)
    helper.send(request, (error) => {
      if (error) settle(() => fail(new NotSent(error.message)))
      else sent = true
    })
  })
}
