/** Runs git, with a list of words. */
import { lstat, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { CommandExecutionError, type Context, p, SaltInvocationError } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { findUser } from '../_cmd/users.ts'
import { jobEnvironment } from '../_environ/job-environment.ts'
import { homeFolder, type Outcome, runProgram } from '../_program/run.ts'
import { type Login, redacted } from './address.ts'
import { type Env, withIdentity } from './identity.ts'
import { type Direction, loginEnv, loginSettings, type Setting, settingsEnv, storedLogins } from './logins.ts'

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
  readonly identity?: string | readonly string[] | undefined
  readonly saltenv?: string
  readonly ignore_retcode?: boolean
  readonly output_encoding?: string | undefined
  /** The login in the URL that is among the words, which have it without. */
  readonly login?: Login | undefined
  /** Set if git is going to use remotes of the checkout. */
  readonly direction?: Direction
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

async function start(
  words: readonly string[],
  { user, login, direction, ignore_retcode = false, output_encoding, ...where }: Caller,
  context: Context,
  merged: boolean,
  env: Env,
): Promise<Outcome> {
  const cwd = where.cwd ?? (await homeFolder(user))
  const stored = direction ? await storedLogins(direction, { cwd, user }, context) : []
  const logins = login ? [...stored, login] : stored
  const settings = [...(await trustSettings(cwd)), ...loginSettings(logins)]
  return runProgram(['git', ...words], context, {
    cwd,
    runas: user,
    merged,
    ignoreRetcode: ignore_retcode,
    outputEncoding: output_encoding,
    redact: redacted,
    env: {
      // Let git fail where it would ask for a password, which nobody would type.
      GIT_TERMINAL_PROMPT: '0',
      ...settingsEnv(settings, jobEnvironment(context)),
      ...loginEnv(logins),
      ...env,
    },
  })
}

/**
 * Return settings that keep git from taking a folder of a checkout for a bare repository. Whoever wrote its files could name programs
 * in its configuration that git would run.
 */
async function trustSettings(cwd: string): Promise<Setting[]> {
  return (await isBelowCheckout(cwd)) ? [['safe.bareRepository', 'explicit']] : []
}

async function isBelowCheckout(cwd: string): Promise<boolean> {
  const place = await realpath(cwd).catch(() => cwd)
  // Nothing that is checked out gets there.
  if (place.split('/').includes('.git')) return false
  for (let folder = place; folder !== dirname(folder); ) {
    folder = dirname(folder)
    if (await lstat(join(folder, '.git')).catch(() => undefined)) return true
  }
  return false
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

/** Refuse a name, revision or URL that git would take as an option. @throws SaltInvocationError */
export function noOption(word: string): string {
  if (!word.startsWith('-')) return word
  throw new SaltInvocationError(`'${word}' would be an option of git; name a revision, remote or path`)
}
