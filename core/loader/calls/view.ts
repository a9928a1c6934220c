import type { Explanation, LoaderView } from '../../author/context.ts'
import type { Params } from '../../author/params.ts'
import { fnmatch } from '../../dialect/fnmatch.ts'
import { warningsIn } from '../check/warnings.ts'
import type { ExtensionFiles } from '../describe/extension-files.ts'
import { functionHelp, type Signature } from '../describe/function-help.ts'
import type { SourceFile } from '../files/index-files.ts'
import { argspecOf, type LoadedFunction, plainParams } from '../functions.ts'
import type { Loader } from '../loader.ts'
import { splitName } from '../names.ts'
import { explain } from '../offer/why.ts'
import { schemaOf } from './schema.ts'

/** Make the view of a loader for `sys.*` and help. */
export function makeView(
  loader: Pick<Loader, 'get' | 'reload' | 'check'> & { rescan(): Promise<boolean> },
  catalog: ExtensionFiles,
  of: LoaderView['of'],
): LoaderView {
  /** Return the catalog after a scan for new and changed files. */
  const fresh = async (): Promise<ExtensionFiles> => {
    await loader.rescan()
    return catalog
  }
  return {
    modules: async (pattern) => matching(Object.keys(await providers(await fresh())), pattern),
    functions: async (pattern) => matching(await functionNames(await fresh()), pattern),
    doc: (name) => findDoc(catalog, name),
    help: async (name) =>
      functionHelp(await findDoc(catalog, name), await signatureOf(loader, catalog, name)),
    argspec: async (name) => {
      const params = await paramsOf(loader, catalog, name)
      return params && argspecOf(params)
    },
    schema: async (name) => {
      const params = await paramsOf(loader, catalog, name)
      return params && schemaOf(params, await findDoc(catalog, name))
    },
    reload: () => loader.reload(),
    failures: async () => failures(await fresh()),
    broken: async () => broken(await fresh()),
    providers: async () => providers(await fresh()),
    why: async (name) => explained(loader, await fresh(), name),
    has: async (name) => (await loader.get(name)) !== undefined,
    of,
  }
}

/** Explain a name, with the warnings about the user's file that provides it; what is wrong with others is why they do not. */
async function explained(
  loader: Pick<Loader, 'check'>,
  catalog: ExtensionFiles,
  name: string,
): Promise<Explanation> {
  const explanation = await explain(catalog, name)
  const file = (await catalog.files()).find(({ path }) => path === explanation.provided_by)
  const warnings = file && !file.builtIn ? warningsIn(await loader.check([file.path])) : []
  return { ...explanation, ...(warnings.length > 0 && { warnings }) }
}

function matching(names: Iterable<string>, pattern: string | undefined): string[] {
  const found = pattern === undefined ? [...names] : [...names].filter((name) => fnmatch(name, pattern))
  return [...new Set(found)].sort()
}

/** Return a map public name → path of the file with the highest precedence for it. */
async function providers(catalog: ExtensionFiles): Promise<Record<string, string>> {
  const found = new Map<string, SourceFile>()
  for (const file of await catalog.files()) {
    if (!(await catalog.offered(file))) continue
    for (const name of await catalog.names(file)) {
      const before = found.get(name)
      if (catalog.allows(name) && (!before || catalog.rank(file, name) < catalog.rank(before, name)))
        found.set(name, file)
    }
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(sorted.map(([name, { path }]) => [name, path]))
}

async function functionNames(catalog: ExtensionFiles): Promise<string[]> {
  const found: string[] = []
  for (const file of await catalog.files()) {
    const functions = await catalog.functions(file)
    if (functions.length === 0) continue
    const names = (await catalog.names(file)).filter((name) => catalog.allows(name))
    found.push(...names.flatMap((name) => functions.map((own) => `${name}.${own}`)))
  }
  return found
}

/** What a function takes and returns, as it declares it. */
type Declared = Pick<LoadedFunction, 'params' | 'returns'>

/** Return what a function declares, for a built-in file without importing it. */
async function declaredBy(
  loader: Pick<Loader, 'get'>,
  catalog: ExtensionFiles,
  name: string,
): Promise<Declared | undefined> {
  const [module, own] = splitName(name)
  if (own === undefined || !catalog.allows(module)) return undefined
  for await (const file of catalog.candidates(module)) {
    if (!(await catalog.functions(file)).includes(own)) continue
    const params = catalog.params(file)?.[own]
    return params ? { params, returns: catalog.returns(file)?.[own] } : loader.get(name)
  }
  return loader.get(name)
}

/** Return the parameters of a function, for a built-in file without importing it. */
export const paramsOf = async (...of: Parameters<typeof declaredBy>): Promise<Params | undefined> =>
  (await declaredBy(...of))?.params

async function signatureOf(...of: Parameters<typeof declaredBy>): Promise<Signature | undefined> {
  const declared = await declaredBy(...of)
  return declared && { ...declared, params: declared.params === plainParams ? null : declared.params }
}

/** Return the comment of a function, or the one at the beginning of a module's file. */
async function findDoc(catalog: ExtensionFiles, name: string): Promise<string | undefined> {
  const [module = '', own] = splitName(name)
  for await (const file of catalog.candidates(module)) {
    if (own === undefined) {
      if (await catalog.offered(file)) return (await catalog.docs(file)).module
    } else if ((await catalog.functions(file)).includes(own)) {
      return (await catalog.docs(file)).functions.get(own)
    }
  }
  return undefined
}

async function broken(catalog: ExtensionFiles): Promise<Record<string, string>> {
  const users = (await catalog.files()).filter((file) => !file.builtIn && file.excluded === undefined)
  const loaded = await Promise.all(users.map(async (file) => ({ file, ...(await catalog.load(file)) })))
  return Object.fromEntries(
    loaded.flatMap(({ file, refusal }) =>
      refusal?.by === 'failure' ? [[file.path, refusal.reason ?? 'it cannot be loaded']] : [],
    ),
  )
}

/** Load every file, and return a map path → reason of those that are not offered. */
async function failures(catalog: ExtensionFiles): Promise<Record<string, string>> {
  const found: [string, string][] = []
  for (const file of await catalog.files()) {
    const refusal =
      file.excluded === undefined ? (await catalog.load(file)).refusal : { reason: file.excluded }
    if (refusal) found.push([file.path, refusal.reason ?? 'virtual is false'])
  }
  return Object.fromEntries(found)
}
