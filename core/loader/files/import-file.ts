import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { messageOf, SaltError } from '../../base/errors.ts'
import { importModule } from '../../process/import-module.ts'
import { fromSource } from '../../process/own-package.ts'
import { withPrivateFolder } from './compiled-files.ts'
import { explainCycle } from './import-cycle.ts'
import type { SourceFile } from './index-files.ts'
import { generationKey, installResolveHook } from './resolve-hook.ts'

export type Namespace = Readonly<Record<string, unknown>>
type Tsx = { import(specifier: string, parentUrl: string): Promise<Namespace> }

let generation = 1
let tsx: Promise<Tsx> | undefined

/** Make later imports read users' files and their helpers again. Running code is not affected. */
export function nextGeneration(): void {
  generation++
}

/**
 * Import a file. Users' TypeScript goes through tsx, which is loaded with the first such file; all others are imported
 * natively. Throws SaltError MODULE_FAILED with the message `path:line: reason`.
 */
export async function importFile(file: Pick<SourceFile, 'path' | 'builtIn'>): Promise<Namespace> {
  const url = pathToFileURL(file.path).href
  try {
    if (file.builtIn) return (await importModule(url)) as Namespace
    return await importUsers(file.path, url)
  } catch (error) {
    throw new SaltError(
      'MODULE_FAILED',
      await explain(error, file.path),
      { file: file.path },
      { cause: error },
    )
  }
}

async function importUsers(file: string, url: string): Promise<Namespace> {
  installResolveHook()
  if (file.endsWith('.cjs')) forgetRequired(file)
  const marked = `${url}?${generationKey}=${generation}`
  if (/ts$/.test(file) || fromSource) return (await loadTsx()).import(url, marked)
  return (await importModule(marked)) as Namespace
}

/** Load tsx once, for all generations: the resolve hook, which must be installed first, distinguishes them. */
export function loadTsx(): Promise<Tsx> {
  installResolveHook()
  tsx ??= withPrivateFolder(() => importModule('tsx/esm/api')).then((api) =>
    (api as typeof import('tsx/esm/api')).register({ namespace: 'salt-ts', tsconfig: false }),
  )
  return tsx
}

/** Remove a CommonJS file and its helpers from the cache, which is by path, so that a new generation reads them again. */
function forgetRequired(file: string): void {
  const { cache } = createRequire(import.meta.url)
  const folder = path.dirname(file) + path.sep
  for (const known of Object.keys(cache)) {
    const below = known.startsWith(folder) ? known.slice(folder.length) : undefined
    if (below !== undefined && !below.includes('node_modules')) delete cache[known]
  }
}

async function explain(error: unknown, file: string): Promise<string> {
  const text = error instanceof Error ? `${error.message}\n${error.stack ?? ''}` : messageOf(error)
  const line = lineIn(text, file) ?? (isSyntaxError(error) ? await lineOfSyntaxError(file) : undefined)
  const reason = (await explainCycle(error)) ?? reasonOf(error)
  return `${file}${line === undefined ? '' : `:${line}`}: ${reason}`
}

const isSyntaxError = (error: unknown) => error instanceof Error && error.name === 'SyntaxError'

/** Return the first line number in a stack or message that belongs to the file itself. */
function lineIn(text: string, file: string): string | undefined {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`${escaped}(?:\\?[^:\\s]*)?:(\\d+)`).exec(text)?.[1]
}

/** Return the reason in one line: `SyntaxError: Unexpected "="`. esbuild's message is shortened to that form. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${messageOf(error)}`
  const found = /: ERROR: (.*)/.exec(error.message)?.[1]
  return found === undefined ? `${error.name}: ${error.message.split('\n')[0]}` : `SyntaxError: ${found}`
}

/**
 * Find the line of a syntax error in JavaScript. Node reports it only on standard error, so another process checks the
 * file.
 */
async function lineOfSyntaxError(file: string): Promise<string | undefined> {
  const asModule = !file.endsWith('.cjs')
  const flags = asModule ? ['--input-type=module', '--check', '-'] : ['--check', file]
  const check = promisify(execFile)(process.execPath, flags, { timeout: 5000 })
  check.child.stdin?.on('error', () => {}) // the result is in its output
  check.child.stdin?.end(asModule ? await readFile(file) : undefined)
  const output = await check.then(
    () => '',
    (failure: { stderr?: string }) => failure.stderr ?? '',
  )
  return lineIn(output, asModule ? '[stdin]' : file)
}
