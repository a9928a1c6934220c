import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { messageOf, SaltError } from '../base/errors.ts'
import { explainCycle } from './import-cycle.ts'
import type { SourceFile } from './index-files.ts'
import { fromSource } from './own-package.ts'
import { generationKey, installResolveHook } from './resolve-hook.ts'

export type Namespace = Readonly<Record<string, unknown>>
type Tsx = { import(specifier: string, parentUrl: string): Promise<Namespace> }

let generation = 1
let tsx: Promise<Tsx> | undefined

/** From now on users' files, and helpers they import, are read anew. What runs keeps the old code. */
export function nextGeneration(): void {
  generation++
}

/**
 * Import a file: built-in ones as they are, users' JavaScript natively, users' TypeScript through tsx, which is loaded
 * with the first such file. Throws SaltError MODULE_FAILED whose message is `path:line: reason`.
 */
export async function importFile(file: Pick<SourceFile, 'path' | 'builtIn'>): Promise<Namespace> {
  const url = pathToFileURL(file.path).href
  try {
    if (file.builtIn) return (await import(/* @vite-ignore */ url)) as Namespace
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
  return (await import(/* @vite-ignore */ marked)) as Namespace
}

/** One tsx for all generations: the resolve hook, which has to be there first, tells them apart. */
export function loadTsx(): Promise<Tsx> {
  installResolveHook()
  tsx ??= import('tsx/esm/api').then(({ register }) => register({ namespace: 'salt-ts', tsconfig: false }))
  return tsx
}

/** CommonJS is cached by path: forget the file and its helpers, so that a new generation reads them again. */
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

/** The first place in a stack or message that lies in the file itself. */
function lineIn(text: string, file: string): string | undefined {
  const escaped = file.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`${escaped}(?:\\?[^:\\s]*)?:(\\d+)`).exec(text)?.[1]
}

/** `SyntaxError: Unexpected "="`: one line, whoever found it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${messageOf(error)}`
  const found = /: ERROR: (.*)/.exec(error.message)?.[1]
  return found === undefined ? `${error.name}: ${error.message.split('\n')[0]}` : `SyntaxError: ${found}`
}

/** Node tells the line of a syntax error in JavaScript only on standard error of a process of its own. */
async function lineOfSyntaxError(file: string): Promise<string | undefined> {
  const asModule = !file.endsWith('.cjs')
  const flags = asModule ? ['--input-type=module', '--check', '-'] : ['--check', file]
  const check = promisify(execFile)(process.execPath, flags, { timeout: 5000 })
  check.child.stdin?.on('error', () => {}) // the reason is in what it writes
  check.child.stdin?.end(asModule ? await readFile(file) : undefined)
  const output = await check.then(
    () => '',
    (failure: { stderr?: string }) => failure.stderr ?? '',
  )
  return lineIn(output, asModule ? '[stdin]' : file)
}
