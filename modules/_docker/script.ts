import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'
import { CommandExecutionError, type Context, p } from 'salt-ts'
import { environment } from '../_cp/places.ts'
import { renderTemplate } from '../_template/index.ts'
import { checkDriver, commandParams, type Ended, runInside, runWords } from './exec.ts'

const { name, cmd: _, exec_driver, stdin, python_shell, output_loglevel, use_vt, ...how } = commandParams

/** The parameters of functions that run a script in a container. */
export const scriptParams = {
  name,
  source: p.string(),
  saltenv: p.default(p.string(), 'base'),
  args: p.optional(p.union(p.string(), p.number())),
  template: p.optional(p.string()),
  exec_driver,
  stdin,
  python_shell,
  output_loglevel,
  ignore_retcode: how.ignore_retcode,
  use_vt,
  keep_env: how.keep_env,
}

interface Script {
  readonly name: string
  readonly source: string
  readonly saltenv: string
  readonly args?: string | number | undefined
  readonly template?: string | undefined
  readonly exec_driver?: string | undefined
  readonly stdin?: string | undefined
  readonly python_shell: boolean
  readonly ignore_retcode: boolean
  readonly keep_env?: boolean | string | readonly string[] | undefined
}

/** The result of a script. With `cache_error` the script could not be read, and `stderr` has the reason. */
type Outcome = Omit<Ended, 'all'> & { readonly cache_error?: true }

const REMOVAL_MS = 10_000

/** Run a private copy of a script in a container, where it is removed when it has ended. */
export async function runScriptInside(script: Script, context: Context): Promise<Outcome> {
  const { name, source, args, ...options } = script
  checkDriver(script.exec_driver)
  const content = await contentOf(script, context)
  if (typeof content === 'string') {
    context.retcode = 1
    return { pid: 0, retcode: 1, stdout: '', stderr: content, cache_error: true }
  }
  const path = `/tmp/salt-${randomUUID()}${posix.extname(source)}`
  await write(name, path, content, context)
  try {
    const cmd = args === undefined || args === '' ? path : `${path} ${args}`
    const { all: _, ...ended } = await runInside({ name, cmd, ...options }, context)
    return ended
  } finally {
    // It is also removed after the job was killed.
    const own = { opts: context.opts, signal: AbortSignal.timeout(REMOVAL_MS) }
    await runWords(name, ['rm', '-f', path], own).catch((error) =>
      context.log.warn(`${path} is left in container '${name}': ${error}`),
    )
  }
}

/** Return the bytes of a script, or why there are none. */
async function contentOf(script: Script, context: Context): Promise<Buffer | string> {
  const { source, template } = script
  const saltenv = environment(context, script.saltenv)
  const isUrl = /^[a-z][a-z\d+.-]*:\/\//i.test(source)
  const cached = isUrl ? await context.call('cp.cache_file', { path: source, saltenv }) : source
  if (typeof cached !== 'string' || cached === '') return `${source} is not on the file server`
  const content = await readFile(cached).catch((error: NodeJS.ErrnoException) => error)
  if (content instanceof Error) return `Cannot read ${cached}: ${content.code}`
  if (!template) return content
  return Buffer.from(await renderTemplate(content.toString(), template, { saltenv }, context))
}

async function write(name: string, path: string, content: Buffer, context: Context): Promise<void> {
  const words = ['sh', '-c', 'umask 077 && cat >"$0" && chmod 700 "$0"', path]
  const { retcode, stderr } = await runWords(name, words, context, [content])
  if (retcode === 0) return
  throw new CommandExecutionError(
    `The script cannot be written to ${path} in container '${name}': ${stderr || retcode}`,
  )
}
