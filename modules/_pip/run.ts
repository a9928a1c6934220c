import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { CommandExecutionError, CommandNotFoundError, type Context } from 'salt-ts'
import { parseEnv } from '../_cmd/env.ts'
import { isProgram, which } from '../_cmd/which.ts'
import { type Outcome, runProgram } from '../_program/run.ts'

/** Which pip to run, and how. `bin_env` is a virtualenv, a pip or a Python. */
export interface PipPlace {
  readonly bin_env?: string | undefined
  readonly user?: string | undefined
  readonly cwd?: string | undefined
  readonly env_vars?: unknown
}

/** Run pip with arguments. */
export async function runPip(
  args: readonly string[],
  place: PipPlace,
  context: Context,
  options: Readonly<Record<string, string>> = {},
): Promise<Outcome> {
  const { bin_env, user, cwd, env_vars } = place
  const folder = bin_env !== undefined && (await isFolder(bin_env)) ? bin_env : undefined
  const env = { ...(folder && { VIRTUAL_ENV: folder }), ...parseEnv(env_vars), ...options }
  const words: [string, ...string[]] = [...(await pipWords(bin_env, folder)), ...args]
  // Addresses with passwords may be in the environment, and then in what pip prints.
  const hasSecrets = env_vars !== undefined || Object.keys(options).length > 0
  return runProgram(words, context, { env, runas: user, cwd: cwd ?? folder, quiet: hasSecrets })
}

/** Run pip, and return its stdout. Rejects with what it says if it fails. */
export async function pipOutput(args: readonly string[], place: PipPlace, context: Context): Promise<string> {
  const { retcode, stdout, stderr } = await runPip(args, place, context)
  if (retcode !== 0) throw new CommandExecutionError(stderr || stdout)
  return stdout
}

/** Does what `-m pip` does, but does not take modules from the working directory, where others may have placed them. */
const RUN_PIP =
  "import sys; sys.path[:] = [p for p in sys.path if p]; import runpy; runpy.run_module('pip', run_name='__main__', alter_sys=True)"

async function pipWords(
  binEnv: string | undefined,
  folder: string | undefined,
): Promise<[string, ...string[]]> {
  if (folder !== undefined) {
    for (const name of ['python3', 'python']) {
      const python = join(folder, 'bin', name)
      if (await isProgram(python)) return [python, '-c', RUN_PIP]
    }
    throw new CommandNotFoundError(`Could not find a pip binary in virtualenv ${folder}`)
  }
  if (binEnv !== undefined) {
    if (isAbsolute(binEnv) && (await isProgram(binEnv))) {
      return /\/python[\d.]*$/.test(binEnv) ? [binEnv, '-c', RUN_PIP] : [binEnv]
    }
    throw new CommandNotFoundError(`Access denied to ${binEnv}, could not find a pip binary`)
  }
  for (const name of ['pip3', 'pip']) {
    const program = await which(name)
    if (program !== null) return [program]
  }
  throw new CommandNotFoundError('Could not find a `pip` binary')
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
