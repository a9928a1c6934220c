import { CommandExecutionError, type Context } from 'salt-ts'
import { decodeOutput } from '../_cmd/decode.ts'
import { type Env, withoutNotifySocket } from '../_cmd/env.ts'
import { type Identity, identify, loginEnv } from '../_cmd/login.ts'
import { workingDirectory } from '../_cmd/plan.ts'
import { runProcess } from '../_cmd/process.ts'
import { findUser } from '../_cmd/users.ts'
import { which } from '../_cmd/which.ts'
import { jobEnvironment } from '../_environ/job-environment.ts'

export interface ProgramOptions {
  /** Absolute path of its working directory, by default `/`. */
  readonly cwd?: string | undefined
  /** Variables of its environment beside those of the minion, or of the login of `runas`. */
  readonly env?: Readonly<Record<string, string>>
  /** Its time limit in seconds. */
  readonly timeout?: number | undefined
  /** Encoding of its output, by default UTF-8. */
  readonly outputEncoding?: string | undefined
  /** Text for its stdin, which is otherwise empty. */
  readonly input?: string
  /** Leave the job's return code as it is, whatever that of the program is. */
  readonly ignoreRetcode?: boolean
  /** Write stderr into stdout, in order. */
  readonly merged?: boolean
  /** Run it as this user. */
  readonly runas?: string | undefined
  /** Keep white space at the end of its output. */
  readonly untrimmed?: boolean
  /** Keep its output out of the log. */
  readonly quiet?: boolean
  /** Take secrets out of its output before that goes into the log. */
  readonly redact?: (text: string) => string
}

/** What a program that has ended left behind. */
export interface Outcome {
  readonly pid: number
  /** A negative one is the number of the signal that ended it. */
  readonly retcode: number
  readonly stdout: string
  readonly stderr: string
}

/** Return the folder where commands of a user run by default: the home, or `/` if it cannot be read. */
export const homeFolder = async (user?: string): Promise<string> =>
  workingDirectory(undefined, user === undefined ? undefined : (await findUser(user))?.home)

/** Check that a program is in PATH or the usual folders. @throws CommandExecutionError if it is not */
async function checkProgram(name: string): Promise<void> {
  if ((await which(name)) === null) throw new CommandExecutionError(`Command '${name}' cannot be found`)
}

/**
 * Run a program by its name or path, with the C locale and without a shell, and set the return code of the job, as a command of
 * Salt's modules does. @throws CommandExecutionError if it cannot be started, or does not end in time
 */
export async function runProgram(
  words: readonly [string, ...string[]],
  context: Context,
  options: ProgramOptions = {},
): Promise<Outcome> {
  const { log } = context
  const [name] = words
  await checkProgram(name)
  const identity = await identify(options.runas, undefined, log)
  const ended = await runProcess(
    {
      words,
      label: name,
      cwd: options.cwd ? await workingDirectory(options.cwd) : '/',
      env: { ...(await programEnv(identity, context)), ...options.env },
      input: options.input === undefined ? undefined : Buffer.from(options.input),
      merged: options.merged ?? false,
      identity,
      ...(options.timeout && { timeoutMs: options.timeout * 1000 }),
    },
    context.signal,
  )
  if (ended.timedOut)
    throw new CommandExecutionError(`Command '${name}' was stopped after ${options.timeout} seconds`)
  const text = (bytes: Buffer) => {
    const decoded = decodeOutput(bytes, options.outputEncoding, log)
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

async function programEnv({ user }: Identity, context: Context): Promise<Env> {
  const own = {
    ...withoutNotifySocket(jobEnvironment(context)),
    ...(user && (await loginEnv(user, '/bin/sh', context))),
  }
  const path = [own.PATH, USUAL_FOLDERS].filter(Boolean).join(':')
  return { ...own, PATH: path, LC_ALL: 'C', LANGUAGE: 'C' }
}

function logOutcome(name: string, outcome: Outcome, options: ProgramOptions, { log }: Context): void {
  const { redact = (text: string) => text } = options
  const failed = outcome.retcode !== 0 && !options.ignoreRetcode
  const at = failed ? 'error' : 'debug'
  log[at](`Command '${name}' ended with return code: ${outcome.retcode}`)
  if (options.quiet) return
  if (outcome.stdout) log[at](`stdout: ${redact(outcome.stdout)}`)
  if (outcome.stderr) log[at](`stderr: ${redact(outcome.stderr)}`)
}
