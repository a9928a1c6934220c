import { randomUUID } from 'node:crypto'
import { chown, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Context } from 'salt-ts'
import { renderTemplate } from '../_template/index.ts'
import type { Options, ProcessResult } from './params.ts'
import { checkTemplate, defaultShell } from './plan.ts'
import { renderingOf, runCommand } from './run.ts'
import { splitWords } from './split.ts'
import { findUser } from './users.ts'

/** Result of a script. If it could not be read, `cache_error` is set, as in Salt, and `stderr` has the reason. */
type ScriptOutcome = ProcessResult & { readonly cache_error?: true }

/** Run a private copy of a script, so that it need not be executable and may remove itself. */
export async function runScript(
  source: string,
  args: unknown,
  given: Options,
  context: Context,
): Promise<ScriptOutcome> {
  const path = await localPath(source, given.saltenv, context)
  if (path === undefined) return unreadable(`${source} is not on the file server`, context)
  const content = await readFile(path).catch((cause: NodeJS.ErrnoException) => cause)
  if (content instanceof Error) return unreadable(`Cannot read ${path}: ${content.code}`, context)
  const { template } = given
  if (template) checkTemplate(context)
  const options = { ...given, template: undefined }
  const text = template
    ? Buffer.from(await renderTemplate(content.toString(), template, renderingOf(given, context), context))
    : content
  const before = namesInterpreter(text) ? [] : [options.shell ?? defaultShell()]
  const script = { extension: extname(path), mode: 0o500, owner: options.runas }
  if (options.bg) return startScript(await privateFile(text, script), [before, words(args)], options, context)
  return withPrivateFile(text, script, (copy) =>
    runCommand([copy, ...words(args)], options, context, { merged: false, before }),
  )
}

/** Runs a script, passes on a signal to end it, and removes its copy when it has ended. */
const ATTENDANT = `"$@" & trap "kill $!" TERM HUP; while kill -0 $! 2>/dev/null; do wait $!; done; rm -f -- "$0"`

/** Start the copy of a script in the background. */
async function startScript(
  copy: string,
  [interpreter, args]: readonly [string[], unknown[]],
  options: Options,
  context: Context,
): Promise<ScriptOutcome> {
  const before = ['/bin/sh', '-c', ATTENDANT, copy, ...interpreter]
  try {
    return await runCommand([copy, ...args], options, context, { merged: false, before })
  } catch (error) {
    await rm(copy, { force: true })
    throw error
  }
}

/** Whether the kernel runs a file by itself: one that begins with `#!`, or a program in machine code. */
const namesInterpreter = (file: Buffer): boolean =>
  file.subarray(0, 2).equals(Buffer.from('#!')) || file.subarray(0, 80).includes(0)

/** Run code given as text with an interpreter. */
export function runCode(
  lang: string,
  code: string,
  args: unknown,
  options: Options,
  context: Context,
): Promise<ProcessResult> {
  return withPrivateFile(Buffer.from(code), { extension: '', mode: 0o400, owner: options.runas }, (file) =>
    runCommand(
      [lang, file, ...(Array.isArray(args) ? args : args === undefined ? [] : [args])],
      options,
      context,
      {
        merged: false,
      },
    ),
  )
}

function unreadable(stderr: string, context: Context): ScriptOutcome {
  context.retcode = 1
  return { pid: 0, retcode: 1, stdout: '', stderr, cache_error: true }
}

/**
 * Return the path of a script; one on the file server or another server is cached first. Undefined if it does not
 * exist.
 */
async function localPath(
  source: string,
  saltenv: string | undefined,
  context: Context,
): Promise<string | undefined> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1]?.toLowerCase()
  if (scheme === undefined) return source
  if (scheme === 'file') return fileURLToPath(source)
  const cached = await context.call('cp.cache_file', [source], saltenv ? { saltenv } : {})
  return typeof cached === 'string' && cached !== '' ? cached : undefined
}

const words = (args: unknown): unknown[] => {
  if (args === undefined || args === null || args === '') return []
  return Array.isArray(args) ? args : splitWords(String(args))
}

interface PrivateFile {
  readonly extension: string
  readonly mode: number
  readonly owner: string | undefined
}

async function withPrivateFile<T>(
  content: Buffer,
  choice: PrivateFile,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const path = await privateFile(content, choice)
  try {
    return await use(path)
  } finally {
    await rm(path, { force: true })
  }
}

async function privateFile(content: Buffer, { extension, mode, owner }: PrivateFile): Promise<string> {
  const path = join(tmpdir(), `salt-cmd-${randomUUID()}${extension}`)
  try {
    await writeFile(path, content, { flag: 'wx', mode })
    const user = owner === undefined ? undefined : await findUser(owner)
    if (user && process.getuid?.() === 0) await chown(path, user.uid, user.gid)
    return path
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}
