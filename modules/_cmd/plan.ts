import { constants } from 'node:fs'
import { access, readFile, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute } from 'node:path'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'
import { checkEncoding } from './decode.ts'
import { buildEnv } from './env.ts'
import { identify, loginEnv } from './login.ts'
import type { CommandLine, Options } from './params.ts'
import type { ProcessPlan } from './process.ts'
import { splitWords } from './split.ts'
import { findProgram, isProgram } from './which.ts'

/** How a command is run. */
export interface Manner {
  /** Write stderr into stdout, in order. */
  readonly merged: boolean
  /** Words that come first, such as an interpreter: they count neither for what is permitted, nor for logs. */
  readonly before?: readonly string[]
}

/** Turn a command and its options into a process plan. Rejects on all errors that can be found before the start. */
export async function planCommand(
  command: CommandLine,
  options: Options,
  context: Context,
  { merged, before = [] }: Manner,
): Promise<ProcessPlan> {
  refuseUnsupported(options)
  checkPermitted(command, context)
  checkEncoding(options.output_encoding)
  const shell = await shellFor(command, options, context)
  const runas = options.runas || (context.context.get('runas') as string | undefined)
  const identity = await identify(runas, options.group || undefined, context.log)
  const cwd = await workingDirectory(options.cwd, identity.user?.home)
  const login = identity.user ? await loginEnv(identity.user, shell ?? defaultShell(), context) : {}
  const env = buildEnv(options, login, context)
  const words = [...before, ...(shell === undefined ? wordsOf(command) : [shell, '-c', String(command)])]
  const label = labelOf(command)
  if (shell === undefined) await checkProgram(words, env.PATH, cwd, label)
  const umask = parseUmask(options.umask)
  const timeoutMs = options.timeout ? options.timeout * 1000 : undefined
  return { words, label, cwd, env, input: inputOf(options), merged, umask, identity, timeoutMs }
}

/** The shell of the minion's environment. */
export const defaultShell = (): string => process.env.SHELL || '/bin/sh'

/**
 * Return a command's first word that is not an assignment. Logs and errors show no more, since the rest may be secret.
 */
function labelOf(command: CommandLine): string {
  const words = Array.isArray(command) ? command.map(String) : String(command).trim().split(/\s+/)
  return words.find((word) => !/^\w+=/.test(word)) ?? ''
}

function refuseUnsupported(options: Options): void {
  if (options.encoded_cmd) {
    throw new SaltInvocationError(
      'encoded_cmd is for PowerShell on Windows; on this system pass the command unencoded',
    )
  }
}

function checkPermitted(command: CommandLine, { opts, nested, job }: Context): void {
  if (nested || !job) return
  const line = Array.isArray(command) ? command.join(' ') : String(command)
  const allowed = opts.cmd_whitelist_glob
  const listed = Array.isArray(allowed) && allowed.length > 0 ? matchesAny(line, allowed) : true
  if (listed && !matchesAny(line, opts.cmd_blacklist_glob)) return
  throw new CommandExecutionError(`The shell command "${line}" is not permitted`)
}

/** @throws CommandExecutionError where commands are limited, since a template could run any */
export function checkTemplate({ opts, nested, job }: Context): void {
  const isLimited = [opts.cmd_whitelist_glob, opts.cmd_blacklist_glob].some(
    (globs) => Array.isArray(globs) && globs.length > 0,
  )
  if (nested || !job || !isLimited) return
  throw new CommandExecutionError(
    'template is not permitted: cmd_whitelist_glob or cmd_blacklist_glob limits commands, and a template could run others',
  )
}

/** Whether one of the globs matches. `globs` comes from the configuration and may have any type. */
function matchesAny(line: string, globs: unknown): boolean {
  return Array.isArray(globs) && globs.some((glob) => fnmatch(line, String(glob)))
}

// By default a job's own command goes through a shell, and a call from another module does not.
async function shellFor(
  command: CommandLine,
  options: Options,
  context: Context,
): Promise<string | undefined> {
  const { shell, python_shell } = options
  if (shell !== undefined && !(isAbsolute(shell) && (await isProgram(shell)))) {
    throw new CommandExecutionError(`The shell ${shell} is not available`)
  }
  const usesShell =
    python_shell ?? (shell !== undefined || !context.nested || context.opts.cmd_safe === false)
  if (!usesShell || Array.isArray(command)) return undefined
  const chosen = shell ?? defaultShell()
  if (!(await isProgram(chosen))) throw new CommandExecutionError(`The shell ${chosen} is not available`)
  if (options.output_loglevel !== 'quiet') await warnOfUnlisted(chosen, context)
  return chosen
}

async function warnOfUnlisted(shell: string, { log }: Context): Promise<void> {
  const listed = await readFile('/etc/shells', 'utf8').catch(() => undefined)
  if (listed === undefined || listed.split('\n').includes(shell)) return
  log.warn(
    `Attempt to run a shell command with what may be an invalid shell! Check to ensure that the shell <${shell}> is valid for this user.`,
  )
}

/** Return the directory in which a command runs: `cwd`, or the home directory if that can be read. */
export async function workingDirectory(cwd: string | undefined, home = homedir()): Promise<string> {
  if (!cwd) {
    return access(home, constants.R_OK).then(
      () => home,
      () => '/',
    )
  }
  const usable = isAbsolute(cwd) && (await stat(cwd).catch(() => undefined))?.isDirectory()
  if (usable) return cwd
  throw new CommandExecutionError(`Specified cwd '${cwd}' either not absolute or does not exist`)
}

function wordsOf(command: CommandLine): string[] {
  const words = Array.isArray(command) ? command.map(String) : splitWords(String(command))
  if (words.length === 0 || words[0] === '') throw new SaltInvocationError('The command is empty')
  if (words.some((word) => word.includes('\0')))
    throw new SaltInvocationError('A command cannot contain a null byte')
  return words
}

async function checkProgram(words: readonly string[], path: string | undefined, cwd: string, label: string) {
  const [name = ''] = words
  if ((await findProgram(name, path, cwd)) !== undefined) return
  const where = name.includes('/')
    ? 'No such file, or it is not executable'
    : 'No such program in the PATH of the command'
  throw new CommandExecutionError(`Unable to run command '${label}', reason: ${where}`)
}

function parseUmask(umask: string | number | undefined): string | undefined {
  if (umask === undefined) return undefined
  const digits = String(umask).replace(/^0o?/, '').replace(/^0+/, '')
  if (digits === '') throw new CommandExecutionError('Zero umask is not allowed.')
  if (!/^[0-7]{1,4}$/.test(digits)) throw new CommandExecutionError(`Invalid umask: '${umask}'`)
  return digits
}

// On a command line a line break is easier to type as \n.
function inputOf({ stdin, stdin_raw_newlines }: Options): Buffer | undefined {
  if (stdin === undefined || stdin === null) return undefined
  const text = String(stdin)
  return Buffer.from(stdin_raw_newlines ? text : text.replaceAll('\\n', '\n'))
}
