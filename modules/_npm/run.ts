import { CommandExecutionError, type Context } from 'salt-ts'
import { parseEnv } from '../_cmd/env.ts'
import { findUser } from '../_cmd/users.ts'
import { type Outcome, runProgram } from '../_program/run.ts'

/** Where npm works, and as whom. Without `dir` it works on the packages of the whole host. */
export interface NpmPlace {
  readonly dir?: string | undefined
  readonly runas?: string | undefined
  readonly env?: unknown
}

/** Run npm with these words. What comes after them are names of packages, never options. */
export async function runNpm(
  words: readonly string[],
  { dir, runas, env }: NpmPlace,
  context: Context,
  options: { readonly names?: readonly string[]; readonly ignoreRetcode?: boolean } = {},
): Promise<Outcome> {
  const { names = [], ignoreRetcode = false } = options
  const global = dir ? [] : ['--global']
  const user = runas === undefined ? undefined : await findUser(runas)
  // npm before 7 changes to this user by itself when root runs it.
  const sudo: Record<string, string> =
    user && user.uid !== 0 ? { SUDO_UID: String(user.uid), SUDO_USER: '' } : {}
  return runProgram(['npm', ...words, ...global, ...(names.length > 0 ? ['--', ...names] : [])], context, {
    cwd: dir || '/',
    runas,
    env: { ...sudo, ...parseEnv(env, context.log) },
    ignoreRetcode,
  })
}

/** Return the JSON in what npm printed, which may have other lines around it, or else the text. */
export function jsonIn({ stdout, stderr }: Outcome): unknown {
  const text = stdout || stderr
  const start = text.search(/^[{[]/m)
  if (start < 0) return text
  for (const end of [text.length, text.lastIndexOf('}') + 1, text.lastIndexOf(']') + 1]) {
    try {
      return JSON.parse(text.slice(start, end))
    } catch {
      // It may end earlier.
    }
  }
  return text
}

/** Parse the answer of `npm list`: an empty one is no packages. */
export function dependenciesIn({ stdout }: Outcome): Record<string, unknown> {
  try {
    return (JSON.parse(stdout || '{}') as { dependencies?: Record<string, unknown> }).dependencies ?? {}
  } catch {
    throw new CommandExecutionError(`npm list printed no JSON: ${stdout.slice(0, 200)}`)
  }
}
