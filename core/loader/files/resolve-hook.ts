import { readFileSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { codeRoot, fromSource, packageRoot } from '../../process/own-package.ts'
import { withPrivateEnvironment } from './compiled-files.ts'

/** Query parameter that distinguishes the generations of a user's file and of the helpers it imports. */
export const generationKey = 'salt-generation'

/** Environment variable with the path of a file. The URL of each imported user's file is appended to it, one a line. */
export const importsFileVariable = 'SALT_TS_IMPORTS_FILE'

interface Resolved {
  url: string
  format?: string | null
  shortCircuit?: boolean
}
interface ResolveContext {
  parentURL?: string
}
export type Resolve = (
  specifier: string,
  context: ResolveContext,
  next: (specifier: string, context: ResolveContext) => Resolved | Promise<Resolved>,
) => Resolved | Promise<Resolved>

interface Own {
  /** URLs by specifier: `salt-ts` and its subpath exports. */
  readonly entries: Readonly<Record<string, string>>
  readonly core: string
  /** Whether users' files without a generation are read as modules, too, in a process that runs their tests. */
  readonly everyFile: boolean
  /** Path of the file to which the URLs of users' files are appended before they are read, if any. */
  readonly importsFile: string | undefined
}

/** Append the URL of a file to the imports file, if there is one. Like the hook, this is passed on as text. */
function noteImport(importsFile: string | undefined, url: string): void {
  if (importsFile === undefined) return
  try {
    process.getBuiltinModule('node:fs').appendFileSync(importsFile, `${url.replace(/[?#].*/, '')}\n`)
  } catch {} // the process that reads the file may have ended; that must not fail the import
}

/**
 * Make Node's resolve hook. It runs in Node's loader thread and is passed there as text, so it may use nothing from
 * outside itself. `salt-ts` resolves to this running copy, wherever a file lies. A file that was imported with a generation
 * passes it on to its imports. A `.ts` or `.js` file is a module unless a `package.json` says otherwise.
 */
function makeResolve(own: Own, note: typeof noteImport): Resolve {
  const marker = /[?&](salt-generation=\d+)/
  const mark = (resolved: Resolved, generation: string | undefined): Resolved => {
    const { url } = resolved
    const isUsers = url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(own.core)
    if (!isUsers) return resolved
    note(own.importsFile, url)
    const format = resolved.format || !/\.[jt]s([?#]|$)/.test(url) ? resolved.format : 'module'
    const isMarked = generation === undefined || marker.test(url)
    const marked = isMarked ? url : `${url}${url.includes('?') ? '&' : '?'}${generation}`
    return { ...resolved, url: marked, ...(format && { format }) }
  }
  return (specifier, context, next) => {
    const url = own.entries[specifier]
    if (url !== undefined) return { url, shortCircuit: true } // Node's own `require` takes no URL
    const resolved = next(specifier, context)
    const generation = (marker.exec(specifier) ?? marker.exec(context.parentURL ?? ''))?.[1]
    if (generation === undefined && !own.everyFile) return resolved
    return resolved instanceof Promise
      ? resolved.then((value) => mark(value, generation))
      : mark(resolved, generation)
  }
}

let installed = false

/** Install the hook once per process, before the first user's file is imported (and before tsx, which calls it). */
export function installResolveHook({ everyFile = false } = {}): void {
  if (installed) return
  installed = true
  const own: Own = {
    entries: ownEntries(),
    core: pathToFileURL(`${codeRoot}/core/`).href,
    everyFile,
    importsFile: process.env[importsFileVariable],
  }
  const inThread = (module as { registerHooks?: (hooks: { resolve: Resolve }) => void }).registerHooks
  if (inThread) {
    inThread({ resolve: makeResolve(own, noteImport) })
    return
  }
  resolveRequired(own)
  // TypeScript loaders such as tsx wrap functions in calls of `__name`.
  const source = `const __name = (f) => f; export const resolve = (${makeResolve})(${JSON.stringify(own)}, ${noteImport})`
  withPrivateEnvironment(() => module.register(`data:text/javascript,${encodeURIComponent(source)}`))
}

/** Return the URLs of this package's entry points by specifier, from its `package.json`. */
function ownEntries(): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, { readonly source: string; readonly default: string } | string>>
  }
  return Object.fromEntries(
    Object.entries(exports).map(([name, target]) => {
      const file = typeof target === 'string' ? target : target[fromSource ? 'source' : 'default']
      return [path.posix.join('salt-ts', name), pathToFileURL(path.join(packageRoot, file)).href]
    }),
  )
}

type ResolveFilename = (request: string, parent: unknown, ...others: unknown[]) => string

/** Resolve `salt-ts` for `require`, too, which hooks in the loader thread do not handle. */
function resolveRequired(own: Own): void {
  const internals = module as unknown as { _resolveFilename: ResolveFilename }
  const next = internals._resolveFilename
  internals._resolveFilename = function (this: unknown, request, parent, ...others) {
    const url = own.entries[request]
    if (url !== undefined) return fileURLToPath(url)
    const file = next.call(this, request, parent, ...others)
    if (path.isAbsolute(file) && !file.includes('/node_modules/'))
      noteImport(own.importsFile, pathToFileURL(file).href)
    return file
  }
}
