import { CommandNotFoundError, type Context } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { environment } from '../_cp/places.ts'
import { homeFolder, type Outcome, type ProgramOptions, runProgram } from '../_program/run.ts'
import { renderEach } from '../_template/index.ts'

type How = Pick<ProgramOptions, 'cwd' | 'runas' | 'input' | 'env'> & {
  /** Whether the caller throws after a failure, so that the return code of the job is not to be set. */
  readonly throws?: boolean
}

/**
 * Run an archiver with a list of words, by default in the home of the user, stderr merged into stdout. A failure sets the return code
 * of the job.
 */
export async function runArchiver(
  words: readonly [string, ...string[]],
  { cwd, throws = false, ...how }: How,
  context: Context,
): Promise<Outcome> {
  const [program] = words
  if ((await which(program)) === null)
    throw new CommandNotFoundError(`The '${program}' binary was not found in $PATH.`)
  return runProgram(words, context, {
    ...how,
    cwd: cwd ?? (await homeFolder(how.runas)),
    merged: true,
    ignoreRetcode: throws,
  })
}

/**
 * Return the environment from which unzip takes a password. Everybody on the host sees its arguments, and nobody else its environment.
 */
export function unzipEnv(password: string | undefined): Record<string, string> {
  return password === undefined ? {} : { UNZIP: `-P "${password.replaceAll(/["\\]/g, '\\$&')}"` }
}

/** Render paths as templates, if an engine is named. */
export const renderPaths = <T>(paths: T, template: string | undefined, context: Context): Promise<T> =>
  renderEach(paths, template, { saltenv: environment(context) }, context)
