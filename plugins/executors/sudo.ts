/**
 * Runs the function as `sudo_user`, with `sudo -n -u USER node …/bin/salt-call`. Only root and the minion's own user can read
 * the minion's keys: for any other user salt-call runs with `--local`, without a master and its pillar.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  CommandExecutionError,
  type Dependency,
  type ExecutorCall,
  executor,
  fromRecordJson,
  jsonText,
  type Virtual,
} from 'salt-ts'

export const virtual: Virtual = ({ opts }) => userOf(opts) !== '' || 'sudo_user is not set'
export const dependsOn: readonly Dependency[] = [{ binary: 'sudo' }]

export default executor({
  async execute(call, context) {
    const { opts, signal } = context
    const { code, stdout, stderr } = await run(commandOf(call.fun, opts), wordsOf(call), signal)
    context.retcode = code
    if (stdout.trim() === '') return stderr.trim()
    const { return: value, retcode } = readReturn(stdout)
    context.retcode = retcode
    return value
  },
})

type Options = Readonly<Record<string, unknown>>

const userOf = ({ sudo_user }: Options): string => (typeof sudo_user === 'string' ? sudo_user : '')
const saltCall = join(
  dirname(createRequire(import.meta.url).resolve('salt-ts/package.json')),
  'bin/salt-call',
)

/** Build the command line. The arguments go to standard input, where the list of processes does not show them. */
function commandOf(fun: string, opts: Options): string[] {
  const user = userOf(opts)
  const readsKeys = user === 'root' || user === opts.user
  return [
    ...['-n', '-u', user, '--', process.execPath, saltCall],
    ...['-c', String(opts.config_dir), '--out', 'json', '--metadata', '--no-return-event'],
    ...['--module-executors', '[direct_call]', '--args-stdin', ...(readsKeys ? [] : ['--local'])],
    ...['--', fun],
  ]
}

/** Write the arguments as JSON, which salt-call reads as YAML. A `#` would start a comment there, so it is escaped. */
function wordsOf({ args, kwargs }: ExecutorCall): string {
  const word = (value: unknown) => jsonText(value).replaceAll('#', '\\u0023')
  const words = [
    ...args.map(word),
    ...Object.entries(kwargs).map(([name, value]) => `${name}=${word(value)}`),
  ]
  return words.map((line) => `${line}\n`).join('')
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function run(words: readonly string[], input: string, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const settings = { signal, maxBuffer: Number.POSITIVE_INFINITY }
    const child = execFile('sudo', words, settings, (error, stdout, stderr) => {
      if (error === null || typeof error.code === 'number')
        resolve({ code: Number(error?.code ?? 0), stdout, stderr })
      else reject(new CommandExecutionError('sudo did not run to completion', { cause: error }))
    })
    child.stdin?.on('error', () => {}) // the child's output says why it did not read
    child.stdin?.end(input)
  })
}

function readReturn(stdout: string): { readonly return: unknown; readonly retcode: number } {
  try {
    const { local } = fromRecordJson(stdout) as { local: { return: unknown; retcode: number } }
    return local
  } catch (cause) {
    throw new CommandExecutionError(
      `salt-call, run by sudo, printed no return that can be read: ${stdout.slice(0, 200)}`,
      { cause },
    )
  }
}
