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
 * Return the documentation of all functions, of a module, of a function, or of those that match a glob: the comment of each,
 * with its examples, its parameters and its declared result.
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
  return null
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
 * Return the documentation of runners, as `sys.doc` does that of modules.
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
 * Return the documentation of returners by the names of their functions, of those that are named or match a glob.
 *
 * @example salt '*' sys.returner_doc
 * @example salt '*' sys.returner_doc sqlite3
 */
export const returner_doc = fn(patterns, async ({ args }, { loader }) => {
  const view = loader.of('returners')
  const names = await listModules(view, [])
  const wanted = names.filter((name) => selected([returnFunction(name)], args).length > 0)
  const texts = Object.entries(await helpOf(view, wanted))
  return Object.fromEntries(texts.map(([name, text]) => [returnFunction(name), text]))
})

/**
 * List the functions of returners, of one returner, or of those that match a glob.
 *
 * @example salt '*' sys.list_returner_functions
 * @example salt '*' sys.list_returner_functions sqlite3
 */
export const list_returner_functions = fn(functionPatterns, async ({ args }, { loader }) =>
  selected((await listModules(loader.of('returners'), [])).map(returnFunction), args),
)

/**
 * Return the parameters of returners' functions.
 *
 * @example salt '*' sys.returner_argspec syslog
 */
export const returner_argspec = fn(one, async ({ module }, { loader }) => {
  const names = (await listModules(loader.of('returners'), [])).map(returnFunction)
  const argspec = { args: ['ret'], defaults: null, varargs: null, kwargs: null }
  return Object.fromEntries(names.filter((name) => isSelected(name, module)).map((name) => [name, argspec]))
})

/** What `slsutil.renderer` renders; there is no kind of extensions for more. */
const RENDERERS: Readonly<Record<string, string>> = {
  jinja: 'Return the text as it is, if it has no marks of Jinja.',
  json: 'Parse JSON.',
  yaml: 'Parse YAML.',
}

/**
 * List the renderers, or those that match one of the globs.
 *
 * @example salt '*' sys.list_renderers
 * @example salt '*' sys.list_renderers 'j*'
 */
export const list_renderers = fn(patterns, ({ args }) =>
  Object.keys(RENDERERS).filter((name) => args.length === 0 || args.some((glob) => fnmatch(name, glob))),
)

/**
 * Return the documentation of renderers, by name.
 *
 * @example salt '*' sys.renderer_doc
 */
export const renderer_doc = fn(patterns, ({ args }) =>
  Object.fromEntries(
    Object.entries(RENDERERS).filter(
      ([name]) => args.length === 0 || args.some((glob) => fnmatch(name, glob)),
    ),
  ),
)

/**
 * List the modules of states: none, since salt-ts has no states.
 *
 * @example salt '*' sys.list_state_modules
 */
export const list_state_modules = fn(patterns, (): string[] => [])

/**
 * List the functions of states: none, since salt-ts has no states.
 *
 * @example salt '*' sys.list_state_functions
 */
export const list_state_functions = fn(functionPatterns, (): string[] => [])

/**
 * Return the documentation of states: none, since salt-ts has no states.
 *
 * @example salt '*' sys.state_doc
 */
export const state_doc = fn(patterns, () => ({}))

/**
 * Return the parameters of states: none, since salt-ts has no states.
 *
 * @example salt '*' sys.state_argspec
 */
export const state_argspec = fn(one, () => ({}))

/**
 * Return the parameters of states as JSON Schema: none, since salt-ts has no states.
 *
 * @example salt '*' sys.state_schema
 */
export const state_schema = fn(one, (): unknown[] => [])

const returnFunction = (name: string): string => `${name}.returner`

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
  return selected((await view?.functions()) ?? [], wanted)
}

function selected(names: string[], wanted: readonly string[]): string[] {
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
  return helpOf(
    view,
    wanted.length === 0 ? names : names.filter((name) => wanted.some((want) => isSelected(name, want))),
  )
}

/** Return a map of name to documentation; null if there is none. */
async function helpOf(view: LoaderView | undefined, names: readonly string[]) {
  const texts = await Promise.all(
    names.map(async (name) => [name, (await view?.help(name)) ?? null] as const),
  )
  return Object.fromEntries(texts)
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
