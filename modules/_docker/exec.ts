import { CommandExecutionError, type Context, p } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { address, type Bytes, docker, dockerDialogue, dockerJson } from './api.ts'
import { readOutput } from './output.ts'

const PATH = 'PATH=/bin:/usr/bin:/sbin:/usr/sbin:/opt/bin:/usr/local/bin:/usr/local/sbin'

/** The parameters of all functions that run a command in a container. */
export const commandParams = {
  name: p.string(),
  cmd: p.string(),
  exec_driver: p.optional(p.string()),
  stdin: p.secret(p.optional(p.string())),
  python_shell: p.default(p.boolean(), true),
  output_loglevel: p.default(p.string(), 'debug'),
  use_vt: p.default(p.boolean(), false),
  ignore_retcode: p.default(p.boolean(), false),
  keep_env: p.optional(p.union(p.boolean(), p.string(), p.array(p.string()))),
}

interface Command {
  readonly name: string
  readonly cmd: string
  readonly exec_driver?: string | undefined
  readonly stdin?: string | undefined
  readonly python_shell: boolean
  readonly ignore_retcode: boolean
  readonly keep_env?: boolean | string | readonly string[] | undefined
}

export interface Ended {
  readonly pid: number
  readonly retcode: number
  readonly stdout: string
  readonly stderr: string
  /** Both, in order. */
  readonly all: string
}

/** Run a command in a running container, and set the return code of the job. Its pipes and variables are those of the container. */
export async function runInside(command: Command, context: Context): Promise<Ended> {
  const { name, exec_driver, stdin, ignore_retcode } = command
  checkDriver(exec_driver)
  const input = stdin ? [Buffer.from(stdin)] : undefined
  const ended = await runWords(name, wordsOf(command), context, input)
  if (!ignore_retcode) context.retcode = ended.retcode
  return ended
}

/** @throws CommandExecutionError for another way to run commands than through Docker */
export function checkDriver(exec_driver = 'docker-exec'): void {
  if (exec_driver === 'docker-exec') return
  throw new CommandExecutionError(
    `Commands run in a container by 'docker-exec' only, not by '${exec_driver}'; leave exec_driver out.`,
  )
}

/** Run a program in a running container, with what it reads, if anything. */
export async function runWords(
  name: string,
  words: readonly string[],
  context: Pick<Context, 'opts' | 'signal'>,
  input?: Bytes,
): Promise<Ended> {
  const made = await dockerJson<{ Id: string }>('POST', address(['containers', name, 'exec']), context, {
    ...(input && { AttachStdin: true }),
    AttachStdout: true,
    AttachStderr: true,
    Cmd: words,
  })
  const start = address(['exec', made.Id, 'start'])
  const how = { Detach: false, Tty: false }
  const written = await (input
    ? dockerDialogue(start, how, input, context)
    : docker('POST', start, context, how))
  const output = readOutput(written)
  const state = await dockerJson<{ ExitCode: number; Pid?: number }>(
    'GET',
    address(['exec', made.Id, 'json']),
    context,
  )
  const [stdout, stderr, all] = [output.stdout, output.stderr, output.all].map((text) => text.trimEnd())
  return { pid: state.Pid ?? 0, retcode: state.ExitCode, stdout: stdout!, stderr: stderr!, all: all! }
}

// Unless keep_env is true, the command gets PATH alone, and the variables of the minion that keep_env names.
function wordsOf({ cmd, python_shell, keep_env }: Command): string[] {
  const words = python_shell ? ['sh', '-c', cmd] : splitWords(cmd)
  if (keep_env === true) return words
  const names = typeof keep_env === 'string' ? keep_env.split(',') : Array.isArray(keep_env) ? keep_env : []
  const kept = names.flatMap((name) => {
    const value = process.env[name.trim()]
    return value === undefined ? [] : [`${name.trim()}=${value}`]
  })
  return ['env', '-i', ...(names.includes('PATH') ? [] : [PATH]), ...kept, ...words]
}
