import { readFileSync } from 'node:fs'
import module from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { codeRoot, fromSource, packageRoot } from './own-package.ts'

/** Query parameter by which a new generation of a user's file, and of the helpers it imports, is told from the old. */
export const generationKey = 'salt-generation'

/** Environment variable that names a file to which the URL of each file of users that is imported is appended, a line each. */
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
  /** The URLs of `salt-ts` and of what it exports below. */
  readonly entries: Readonly<Record<string, string>>
  readonly core: string
  /** Files of users need no generation to be taken for modules: a process that runs their tests. */
  readonly everyFile: boolean
  /** Where the URLs of users' files are appended before they are read, if anybody wants to know. */
  readonly importsFile: string | undefined
}

/** Appends the URL of a file to the imports file, if there is one. It travels with the hook as text, too. */
function noteImport(importsFile: string | undefined, url: string): void {
  if (importsFile === undefined) return
  try {
    process.getBuiltinModule('node:fs').appendFileSync(importsFile, `${url.replace(/[?#].*/, '')}\n`)
  } catch {} // whoever asked is gone, and what it started goes on
}

/**
 * Makes Node's resolve hook. It runs in Node's loader thread and travels there as text, so it may use nothing from
 * outside itself. `salt-ts` is always this running copy, wherever a file lies; a file that was imported with a
 * generation passes it on to what it imports; a `.ts` or `.js` file without a `package.json` that says otherwise is a module.
 */
function makeResolve(own: Own, note: typeof noteImport): Resolve {
  const marker = /[?&](salt-generation=\d+)/
  const mark = (resolved: Resolved, generation: string | undefined): Resolved => {
    const { url } = resolved
    const theirs = url.startsWith('file:') && !url.includes('/node_modules/') && !url.startsWith(own.core)
    if (!theirs) return resolved
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

/** Install the hook once per process, before the first file of a user is imported (and before tsx, which calls it). */
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
  // `__name` is what TypeScript loaders such as tsx wrap functions in.
  const source = `const __name = (f) => f; export const resolve = (${makeResolve})(${JSON.stringify(own)}, ${noteImport})`
  module.register(`data:text/javascript,${encodeURIComponent(source)}`)
}

/** By specifier, from the package's manifest. */
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

/** Hooks of a loader thread do not see `require`; this is where Node lets others in for it. */
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
