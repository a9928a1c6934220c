import { CommandExecutionError, type Context } from 'salt-ts'
import { decodeOutput } from '../_cmd/decode.ts'
import { identify } from '../_cmd/login.ts'
import { runProcess } from '../_cmd/process.ts'
import { which } from '../_cmd/which.ts'

export interface ProgramOptions {
  /** Text for its stdin, which is otherwise empty. */
  readonly input?: string
  /** Leave the job's return code as it is, whatever that of the program is. */
  readonly ignoreRetcode?: boolean
  /** Write stderr into stdout, in order. */
  readonly merged?: boolean
  /** Run it as this user. */
  readonly runas?: string
  /** Keep white space at the end of its output. */
  readonly untrimmed?: boolean
  /** Keep its output out of the log. */
  readonly quiet?: boolean
}

/** What a program that has ended left behind. */
export interface Outcome {
  readonly pid: number
  /** A negative one is the number of the signal that ended it. */
  readonly retcode: number
  readonly stdout: string
  readonly stderr: string
}

/** Find a program in PATH or the usual folders. @throws CommandExecutionError if there is none */
async function programPath(name: string): Promise<string> {
  const path = await which(name)
  if (path === null) throw new CommandExecutionError(`Command '${name}' cannot be found`)
  return path
}

/**
 * Run a program by its name, with the C locale and without a shell, and set the return code of the job, as a command of
 * Salt's modules does.
 */
export async function runProgram(
  [name, ...args]: readonly [string, ...string[]],
  context: Context,
  options: ProgramOptions = {},
): Promise<Outcome> {
  const { log } = context
  await programPath(name)
  const ended = await runProcess(
    {
      words: [name, ...args],
      label: name,
      cwd: '/',
      env: programEnv(),
      input: options.input === undefined ? undefined : Buffer.from(options.input),
      merged: options.merged ?? false,
      identity: await identify(options.runas, undefined, log),
    },
    context.signal,
  )
  const text = (bytes: Buffer) => {
    const decoded = decodeOutput(bytes, undefined, log)
    return options.untrimmed ? decoded : decoded.trimEnd()
  }
  const outcome = {
    pid: ended.pid,
    retcode: ended.code,
    stdout: text(ended.stdout),
    stderr: text(ended.stderr),
  }
  if (!options.ignoreRetcode) context.retcode = outcome.retcode
  logOutcome(name, outcome, options, context)
  return outcome
}

const USUAL_FOLDERS = '/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/sbin:/usr/local/bin'

// systemd's readiness socket belongs to the minion, not to the programs it starts.
function programEnv(): Record<string, string> {
  const { NOTIFY_SOCKET: _, PATH = '', ...own } = process.env
  const path = [PATH, USUAL_FOLDERS].filter(Boolean).join(':')
  return { ...own, PATH: path, LC_ALL: 'C', LANGUAGE: 'C' } as Record<string, string>
}

function logOutcome(name: string, outcome: Outcome, options: ProgramOptions, { log }: Context): void {
  const failed = outcome.retcode !== 0 && !options.ignoreRetcode
  const at = failed ? 'error' : 'debug'
  log[at](`Command '${name}' ended with return code: ${outcome.retcode}`)
  if (options.quiet) return
  if (outcome.stdout) log[at](`stdout: ${outcome.stdout}`)
  if (outcome.stderr) log[at](`stderr: ${outcome.stderr}`)
}
