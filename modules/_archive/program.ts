import { CommandNotFoundError, type Context, SaltInvocationError } from 'salt-ts'
import { which } from '../_cmd/which.ts'

export interface How {
  readonly cwd?: string | undefined
  readonly runas?: string | undefined
  readonly stdin?: string
  /** Whether the caller throws after a failure, so that the return code of the job is not to be set. */
  readonly throws?: boolean
  /** Whether the arguments are secret. */
  readonly quiet?: boolean
}

/** Run an archiver with a list of words, stderr merged into stdout. A failure sets the return code of the job. */
export async function runArchiver(
  words: readonly string[],
  { cwd, runas, stdin, throws = false, quiet }: How,
  context: Context,
) {
  const [program = ''] = words
  if ((await which(program)) === null)
    throw new CommandNotFoundError(`The '${program}' binary was not found in $PATH.`)
  return context.call('cmd.run_all', {
    cmd: [...words],
    redirect_stderr: true,
    python_shell: false,
    ignore_retcode: throws,
    output_loglevel: quiet ? 'quiet' : 'debug',
    ...(cwd !== undefined && { cwd }),
    ...(runas !== undefined && { runas }),
    ...(stdin !== undefined && { stdin, stdin_raw_newlines: true }),
  })
}

export function refuseTemplate(template: string | undefined): void {
  if (template === undefined) return
  throw new SaltInvocationError(
    'template is not supported: this minion has no template engine; pass rendered paths',
  )
}
