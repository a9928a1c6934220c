import { stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { CommandExecutionError, CommandNotFoundError, type Context } from 'salt-ts'
import { parseEnv } from '../_cmd/env.ts'
import type { ProcessResult } from '../_cmd/params.ts'
import { isProgram, which } from '../_cmd/which.ts'
import { runProgram } from '../_pkg/program.ts'

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
): Promise<ProcessResult> {
  const { bin_env, user, cwd, env_vars } = place
  const folder = bin_env !== undefined && (await isFolder(bin_env)) ? bin_env : undefined
  const env = { ...(folder && { VIRTUAL_ENV: folder }), ...parseEnv(env_vars) }
  const words = [...(await pipWords(bin_env, folder)), ...args]
  return runProgram(words, context, { env, runas: user, cwd: cwd ?? folder })
}

/** Run pip, and return its stdout. Rejects with what it says if it fails. */
export async function pipOutput(args: readonly string[], place: PipPlace, context: Context): Promise<string> {
  const { retcode, stdout, stderr } = await runPip(args, place, context)
  if (retcode !== 0) throw new CommandExecutionError(stderr || stdout)
  return stdout
}

async function pipWords(binEnv: string | undefined, folder: string | undefined): Promise<string[]> {
  if (folder !== undefined) {
    for (const name of ['python3', 'python']) {
      const python = join(folder, 'bin', name)
      if (await isProgram(python)) return [python, '-m', 'pip']
    }
    throw new CommandNotFoundError(`Could not find a \`pip\` binary in virtualenv ${folder}`)
  }
  if (binEnv !== undefined) {
    if (isAbsolute(binEnv) && (await isProgram(binEnv))) {
      return /\/python[\d.]*$/.test(binEnv) ? [binEnv, '-m', 'pip'] : [binEnv]
    }
    throw new CommandNotFoundError(`Could not find a \`pip\` binary at ${binEnv}`)
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
