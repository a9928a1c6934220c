/** Runs git, with a list of words. */
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { CommandExecutionError, type Context, p } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { findUser } from '../_cmd/users.ts'
import { redacted } from './address.ts'
import { withIdentity } from './identity.ts'

const text = p.optional(p.string())

/** Options that users write as text, or as a list. */
export const opts = p.default(p.union(p.string(), p.array(p.any())), '')
export const identity = p.optional(p.union(p.string(), p.array(p.string())))
export const saltenv = p.default(p.string(), 'base')

/** Last parameters of nearly all functions. */
export const caller = {
  user: text,
  password: p.secret(text),
  ignore_retcode: p.default(p.boolean(), false),
  output_encoding: text,
}
export const optioned = { opts, git_opts: opts, ...caller }
export const authenticated = {
  opts,
  git_opts: opts,
  user: caller.user,
  password: caller.password,
  identity,
  ignore_retcode: caller.ignore_retcode,
  saltenv,
  output_encoding: caller.output_encoding,
}

/** The user who runs git, the place, and how its outcome is treated. */
export interface Caller {
  readonly cwd?: string | undefined
  readonly user?: string | undefined
  readonly password?: string | undefined
  readonly identity?: string | readonly string[] | undefined
  readonly saltenv?: string
  readonly ignore_retcode?: boolean
  readonly output_encoding?: string | undefined
}

export interface Outcome {
  readonly retcode: number
  readonly stdout: string
  readonly stderr: string
}

/** Run git and return what it writes to stdout; with `merged` also what it writes to stderr. */
export async function git(
  words: readonly string[],
  how: Caller,
  context: Context,
  { merged = false } = {},
): Promise<string> {
  const outcome = await tryGit(words, how, context, { merged })
  if (outcome.retcode === 0) return outcome.stdout
  const said = merged ? outcome.stdout : outcome.stderr
  const command = redacted(['git', ...words].join(' '))
  throw new CommandExecutionError(`Command '${command}' failed${said ? `: ${redacted(said)}` : ''}`)
}

/** Run git and return the outcome, whatever it is. With `identity`, each key is tried in turn. */
export async function tryGit(
  words: readonly string[],
  { identity, saltenv = 'base', ...how }: Caller,
  context: Context,
  { merged = false } = {},
): Promise<Outcome> {
  if (identity === undefined) return start(words, how, context, merged, {})
  return withIdentity([identity].flat(), { user: how.user, saltenv }, context, (env) =>
    start(words, how, context, merged, env),
  )
}

function start(
  words: readonly string[],
  { cwd, user, password, ignore_retcode = false, output_encoding }: Caller,
  context: Context,
  merged: boolean,
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  return context.call('cmd.run_all', {
    cmd: ['git', ...words],
    python_shell: false,
    redirect_stderr: merged,
    ignore_retcode,
    // Let git fail where it would ask for a password, which nobody would type.
    env: { GIT_TERMINAL_PROMPT: '0', ...env },
    ...(cwd !== undefined && { cwd }),
    ...(user !== undefined && { runas: user }),
    ...(password !== undefined && { password }),
    ...(output_encoding !== undefined && { output_encoding }),
  })
}

/** Return the path of a checkout. A relative one is below the home of the user who runs git. */
export async function expandPath(cwd: string, user: string | undefined): Promise<string> {
  const home = user === undefined ? homedir() : (await findUser(user))?.home
  return resolve(home ?? '/', cwd)
}

/** Split options into words, as a shell would. */
export function optionWords(given: string | readonly unknown[]): string[] {
  if (typeof given !== 'string') return given.map(String)
  const words = splitWords(given)
  return words.at(-1) === '--' ? words.slice(0, -1) : words
}
