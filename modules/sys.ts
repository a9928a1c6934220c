/** List the modules and functions of this minion, and show their documentation and signatures. */

import { fn, type LoaderView, p, SaltInvocationError } from 'salt-ts'
import { fnmatch } from '#internal'

const patterns = { args: p.rest(p.string()) }
const functionPatterns = { args: p.rest(p.string()), kwargs: p.keywords(p.any()) }
const one = { module: p.default(p.string(), '') }

/**
 * List the names of all modules, or of those that match one of the globs.
 *
 * @example salt '*' sys.list_modules
 * @example salt '*' sys.list_modules 's*' test
 */
export const list_modules = fn(patterns, ({ args }, { loader }) => listModules(loader, args))

/**
 * List the names of all functions, of a module's functions, or of those that match a glob.
 *
 * @example salt '*' sys.list_functions
 * @example salt '*' sys.list_functions sys
 * @example salt '*' sys.list_functions 'sys.list_*'
 */
export const list_functions = fn(functionPatterns, ({ args }, { loader }) => listFunctions(loader, args))

/**
 * Return the documentation of all functions, of a module, of a function, or of those that match a glob.
 *
 * @example salt '*' sys.doc
 * @example salt '*' sys.doc sys
 * @example salt '*' sys.doc sys.doc
 * @example salt '*' sys.doc 'network.*' cmd.run
 */
export const doc = fn(patterns, ({ args }, { loader }) => documentation(loader, args))

/**
 * Return the parameters of a function, of a module's functions, or of those that match a glob.
 *
 * @example salt '*' sys.argspec test.sleep
 * @example salt '*' sys.argspec sys
 * @example salt '*' sys.argspec 'pkg.*'
 */
export const argspec = fn(one, ({ module }, { loader }) => signatures(loader, module))

/**
 * Return the parameters of functions as JSON Schema.
 *
 * @example salt '*' sys.schema test.sleep --out json
 * @example salt '*' sys.schema 'cmd.*' --out json
 */
export const schema = fn(one, ({ module }, { loader }) => schemas(loader, module))

/**
 * Explain where a function comes from: every file that could provide it, the one that does, and why each of the others
 * does not.
 *
 * @example salt '*' sys.why pkg.install
 * @example salt '*' sys.why nested kind=outputters
 */
export const why = fn(
  {
    name: p.string({ description: 'A function, a module, or a plugin.' }),
    kind: p.default(p.string({ description: 'modules, runners, outputters, grains, …' }), 'modules'),
  },
  ({ name, kind }, { loader }) => {
    const view = loader.of(kind)
    if (!view) throw new SaltInvocationError(`There is no kind of extensions called '${kind}'.`)
    return view.why(name)
  },
)

/**
 * Reload all modules, including helpers. Running jobs finish with the old code.
 *
 * @example salt '*' sys.reload_modules
 */
export const reload_modules = fn(async (_, { loader, minion }) => {
  await loader.reload()
  await minion.refreshModules()
  return true
})

/**
 * List the names of all runners installed on the minion, or of those that match one of the globs.
 *
 * @example salt '*' sys.list_runners
 * @example salt '*' sys.list_runners 'm*'
 */
export const list_runners = fn(patterns, ({ args }, { loader }) => listModules(loader.of('runners'), args))

/**
 * List the names of all functions of runners, of one runner, or of those that match a glob.
 *
 * @example salt '*' sys.list_runner_functions
 * @example salt '*' sys.list_runner_functions jobs
 */
export const list_runner_functions = fn(functionPatterns, ({ args }, { loader }) =>
  listFunctions(loader.of('runners'), args),
)

/**
 * Return the documentation of runners.
 *
 * @example salt '*' sys.runner_doc
 * @example salt '*' sys.runner_doc jobs.list_jobs
 */
export const runner_doc = fn(patterns, ({ args }, { loader }) => documentation(loader.of('runners'), args))

/**
 * Return the parameters of runners' functions.
 *
 * @example salt '*' sys.runner_argspec jobs
 */
export const runner_argspec = fn(one, ({ module }, { loader }) => signatures(loader.of('runners'), module))

/**
 * List the names of all returners, or of those that match one of the globs.
 *
 * @example salt '*' sys.list_returners
 */
export const list_returners = fn(patterns, ({ args }, { loader }) =>
  listModules(loader.of('returners'), args),
)

/**
 * Return the documentation of returners, by name.
 *
 * @example salt '*' sys.returner_doc
 */
export const returner_doc = fn(patterns, async ({ args }, { loader }) => {
  const view = loader.of('returners')
  const names = await listModules(view, args)
  return docsOf(view, names)
})

/**
 * As in Salt, modules are loaded before they are listed: one that fails to load is left out, and the reason is logged.
 */
async function listModules(view: LoaderView | undefined, globs: readonly string[]): Promise<string[]> {
  await view?.broken()
  const names = (await view?.modules()) ?? []
  return globs.length === 0 ? names : names.filter((name) => globs.some((glob) => fnmatch(name, glob)))
}

/** A module such as `sys` selects `sys.*`. A glob, or a name with a dot, is matched with the whole name. */
async function listFunctions(view: LoaderView | undefined, wanted: readonly string[]): Promise<string[]> {
  await view?.broken()
  const names = (await view?.functions()) ?? []
  const isSelected = (name: string, want: string) =>
    /[*.]/.test(want) ? fnmatch(name, want) : name.startsWith(`${want}.`)
  return wanted.length === 0 ? names : names.filter((name) => wanted.some((want) => isSelected(name, want)))
}

/** A glob is matched with the whole name. Otherwise `want` is a function, or a module with or without a final dot. */
function isSelected(name: string, want: string): boolean {
  if (want.includes('*')) return fnmatch(name, want)
  return want === '' || name === want || name.startsWith(want.endsWith('.') ? want : `${want}.`)
}

async function documentation(view: LoaderView | undefined, wanted: readonly string[]) {
  const names = (await view?.functions()) ?? []
  return docsOf(
    view,
    wanted.length === 0 ? names : names.filter((name) => wanted.some((want) => isSelected(name, want))),
  )
}

/** Return a map of name to documentation; null if there is none. */
async function docsOf(view: LoaderView | undefined, names: readonly string[]) {
  const docs = await Promise.all(names.map(async (name) => [name, (await view?.doc(name)) ?? null] as const))
  return Object.fromEntries(docs)
}

const signatures = (view: LoaderView | undefined, want: string) =>
  describeFunctions(view, want, (name) => view?.argspec(name))

const schemas = (view: LoaderView | undefined, want: string) =>
  describeFunctions(view, want, (name) => view?.schema(name))

/** Return a description of each selected function, by name. */
async function describeFunctions<T>(
  view: LoaderView | undefined,
  want: string,
  describe: (name: string) => Promise<T | undefined> | undefined,
): Promise<Record<string, T>> {
  const names = ((await view?.functions()) ?? []).filter((name) => isSelected(name, want))
  const found: [string, T][] = []
  for (const name of names) {
    const description = await describe(name)
    if (description !== undefined) found.push([name, description])
  }
  return Object.fromEntries(found)
}
