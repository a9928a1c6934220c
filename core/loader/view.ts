import type { LoaderView } from '../author/context.ts'
import { fnmatch } from '../base/fnmatch.ts'
import type { Catalog } from './catalog.ts'
import { argspecOf } from './functions.ts'
import type { Loader } from './loader.ts'

/** What `sys.*` and help see of a loader. */
export function makeView(
  loader: Pick<Loader, 'get' | 'reload'>,
  catalog: Catalog,
  of: LoaderView['of'],
): LoaderView {
  return {
    modules: async (pattern) => matching(Object.keys(await providers(catalog)), pattern),
    functions: async (pattern) => matching(await functionNames(catalog), pattern),
    doc: (name) => findDoc(catalog, name),
    argspec: async (name) => {
      const found = await loader.get(name)
      return found && argspecOf(found.params)
    },
    reload: () => loader.reload(),
    failures: () => failures(catalog),
    providers: () => providers(catalog),
    has: async (name) => (await loader.get(name)) !== undefined,
    of,
  }
}

function matching(names: Iterable<string>, pattern: string | undefined): string[] {
  const wanted = pattern === undefined ? [...names] : [...names].filter((name) => fnmatch(name, pattern))
  return [...new Set(wanted)].sort()
}

/** Public name → path of the first file that serves it. */
async function providers(catalog: Catalog): Promise<Record<string, string>> {
  const found = new Map<string, string>()
  for (const file of await catalog.files()) {
    if (!(await catalog.offered(file))) continue
    for (const name of await catalog.names(file)) {
      if (catalog.allows(name) && !found.has(name)) found.set(name, file.path)
    }
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function functionNames(catalog: Catalog): Promise<string[]> {
  const found: string[] = []
  for (const file of await catalog.files()) {
    const functions = await catalog.functions(file)
    if (functions.length === 0) continue
    const names = (await catalog.names(file)).filter((name) => catalog.allows(name))
    found.push(...names.flatMap((name) => functions.map((own) => `${name}.${own}`)))
  }
  return found
}

/** The comment of the file that provides the function, or the one at the head of the module. */
async function findDoc(catalog: Catalog, name: string): Promise<string | undefined> {
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

/** `mod.fun` at the first point. */
export function splitName(name: string): [module: string, own: string | undefined] {
  const at = name.indexOf('.')
  return at < 0 ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)]
}

/** Every file is loaded to see whether it can be; those that cannot, with the reason. */
async function failures(catalog: Catalog): Promise<Record<string, string>> {
  const found: [string, string][] = []
  for (const file of await catalog.files()) {
    const refusal =
      file.excluded === undefined ? (await catalog.load(file)).refusal : { reason: file.excluded }
    if (refusal) found.push([file.path, refusal.reason ?? 'virtual is false'])
  }
  return Object.fromEntries(found)
}
