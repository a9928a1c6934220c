/** `-d`: start the same command as a daemon, which reports to the terminal how its start went. */
import { spawn } from 'node:child_process'
import { messageOf } from '../../base/errors.ts'
import { exitCodes } from '../exit-codes.ts'
import { printNote } from '../output/console.ts'

/** Set in a daemon that was started in the background. */
const IN_BACKGROUND = 'SALT_TS_IN_BACKGROUND'

type Report =
  /** Text for the terminal during the start. */
  { readonly text: string } | { readonly ready: true }

/** Where a daemon reports its start: to the terminal, or to the process that waits for it in the background. */
export interface StartReporter {
  /** Where text for the terminal goes. Undefined: to standard error. */
  readonly terminal?: { write(text: string): void }
  /** Report that the daemon is running. */
  ready(): void
  /** Report an error that ends the daemon before it has a log. */
  failed(error: unknown): void
}

/**
 * Open the reporter of this process. Undefined if this process has to start the daemon and wait for it
 * (`startInBackground`).
 */
export function openStartReporter(inBackground: boolean): StartReporter | undefined {
  if (process.env[IN_BACKGROUND] === undefined) {
    return inBackground ? undefined : { ready: () => {}, failed: () => {} }
  }
  delete process.env[IN_BACKGROUND]
  const report = (message: Report) => {
    if (process.connected) process.send?.(message)
  }
  return {
    terminal: { write: (text) => report({ text }) },
    ready() {
      report({ ready: true })
      if (process.connected) process.disconnect()
    },
    failed: (error) => report({ text: `ERROR: ${messageOf(error)}\n` }),
  }
}

/**
 * Start the same command detached from this terminal, and wait until it runs or has ended. Its text for the terminal
 * is shown here. Resolves with 0 if it runs, else with its exit code.
 */
export async function startInBackground(name: string): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: { ...process.env, [IN_BACKGROUND]: '1' },
  })
  return new Promise((resolve) => {
    child.on('message', (report: Report) => {
      if ('text' in report) return void process.stderr.write(report.text)
      printNote(`${name} is running, process ${child.pid}.`)
      resolve(exitCodes.ok)
    })
    child.once('error', (error) => {
      printNote(`ERROR: ${name} cannot be started: ${error.message}`)
      resolve(exitCodes.failed)
    })
    child.once('close', (code, signal) => {
      if (signal) printNote(`ERROR: ${name} was ended by ${signal} while it started.`)
      resolve(code ?? exitCodes.failed)
    })
  })
}
