import { CommandNotFoundError, type Context } from 'salt-ts'
import type { ProcessResult } from '../_cmd/params.ts'
import { which } from '../_cmd/which.ts'

interface How {
  /** A user to run the program as. */
  readonly runas?: string | undefined
  /** Whether a failure leaves the exit code of the job as it is. */
  readonly ignoreRetcode?: boolean
  /** Variables of the environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** Run a program without a shell, and return its exit code and output. A failure sets the exit code of the job. */
export function run(
  words: readonly string[],
  { call }: Context,
  { runas, ignoreRetcode = false, env }: How = {},
): Promise<ProcessResult> {
  return call('cmd.run_all', {
    cmd: [...words],
    python_shell: false,
    ignore_retcode: ignoreRetcode,
    ...(runas !== undefined && { runas }),
    ...(env !== undefined && { env }),
  })
}

/** Run a program as {@link run} does, and return what it wrote to stdout and stderr, in order. */
export function output(words: readonly string[], { call }: Context): Promise<string> {
  return call('cmd.run', { cmd: [...words], python_shell: false })
}

/** Run a program and return the lines of its stdout. */
export async function outputLines(words: readonly string[], context: Context): Promise<string[]> {
  return (await run(words, context)).stdout.split('\n')
}

/** Return the path of a program. @throws CommandNotFoundError if it is not installed */
export async function requireProgram(name: string): Promise<string> {
  const path = await which(name)
  if (path === null) throw new CommandNotFoundError(`The '${name}' binary was not found in $PATH.`)
  return path
}
