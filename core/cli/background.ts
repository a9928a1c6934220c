/** `-d`: the same command again as a daemon, and how it tells the terminal it was started from how that went. */
import { spawn } from 'node:child_process'
import { messageOf } from '../base/errors.ts'
import { tell } from './console.ts'
import { exitCodes } from './exit-codes.ts'

/** Set in a daemon that was started in the background. */
const IN_BACKGROUND = 'SALT_TS_IN_BACKGROUND'

type Report =
  /** What it writes to a terminal while it starts. */
  { readonly said: string } | { readonly ready: true }

/** The other end of the daemon: a terminal, or what waits for it in the background. */
export interface Starter {
  /** Where lines for the terminal go; undefined: to standard error. */
  readonly terminal?: { write(text: string): void }
  /** Tell the waiting program that the daemon runs. */
  ready(): void
  /** The sentence of an error that ends the daemon before it has a log. */
  failed(error: unknown): void
}

/** Undefined: this process is what waits, and has to call `startInBackground`. */
export function openStarter(inBackground: boolean): Starter | undefined {
  if (process.env[IN_BACKGROUND] === undefined) {
    return inBackground ? undefined : { ready: () => {}, failed: () => {} }
  }
  delete process.env[IN_BACKGROUND]
  const report = (message: Report) => {
    if (process.connected) process.send?.(message)
  }
  return {
    terminal: { write: (said) => report({ said }) },
    ready() {
      report({ ready: true })
      if (process.connected) process.disconnect()
    },
    failed: (error) => report({ said: `ERROR: ${messageOf(error)}\n` }),
  }
}

/**
 * Start the same command detached from this terminal, and wait until it runs or has ended. What it says meanwhile is said
 * here. Resolves with 0 if it runs, else with its exit code.
 */
export async function startInBackground(name: string): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, [IN_BACKGROUND]: '1' },
  })
  return new Promise((resolve) => {
    child.on('message', (report: Report) => {
      if ('said' in report) return void process.stderr.write(report.said)
      tell(`${name} is started, process ${child.pid}.`)
      resolve(exitCodes.ok)
    })
    child.once('error', (error) => {
      tell(`ERROR: ${name} cannot be started: ${error.message}`)
      resolve(exitCodes.failed)
    })
    child.once('close', (code, signal) => {
      if (signal) tell(`ERROR: ${name} was ended by ${signal} while it started.`)
      resolve(code ?? exitCodes.failed)
    })
  })
}
