import { readFile } from 'node:fs/promises'
import type { Params } from '../../author/params.ts'
import type { SourceFile } from '../files/index-files.ts'
import { plainParams } from '../functions.ts'
import { type Description, paramsAsJson } from './describe.ts'
import type { ExtensionFiles } from './extension-files.ts'
import { sourceFacts } from './read-source.ts'

/** One function of a file, with its parameters as {@link Description} has them. */
type Entry = readonly [own: string, params: Params | null | false]

/**
 * Describe the functions of a loader from the text of users' files, without importing them. A function that only an import
 * would show is missing; one that `virtual` would withhold is included.
 */
export async function describeByText(catalog: ExtensionFiles): Promise<Description> {
  const found = new Map<string, { readonly rank: number; readonly params: Params | null | false }>()
  for (const file of await catalog.files()) {
    if (file.excluded !== undefined) continue
    const { names, functions } = await (file.builtIn ? ofBuiltIn(file, catalog) : ofUser(file))
    for (const name of names.filter(catalog.allows)) {
      const rank = catalog.rank(file, name)
      for (const [own, params] of functions)
        if (rank < (found.get(`${name}.${own}`)?.rank ?? Number.POSITIVE_INFINITY))
          found.set(`${name}.${own}`, { rank, params })
    }
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1))
  return { functions: Object.fromEntries(sorted.map(([name, { params }]) => [name, params])), missing: {} }
}

interface FileOffer {
  readonly names: readonly string[]
  readonly functions: readonly Entry[]
}

async function ofBuiltIn(file: SourceFile, catalog: ExtensionFiles): Promise<FileOffer> {
  const names = await catalog.names(file)
  const own = await catalog.functions(file)
  const known = catalog.params(file)
  const params = async (name: string) =>
    known ? known[name] : (await catalog.load(file)).functions.get(name)?.params
  const functions = await Promise.all(
    own.map(async (name): Promise<Entry> => [name, paramsAsJson((await params(name)) ?? plainParams)]),
  )
  return { names, functions }
}

async function ofUser({ path, name }: SourceFile): Promise<FileOffer> {
  const source = await readFile(path, 'utf8').catch(() => '')
  const { names, functions = [] } = sourceFacts(source, name)
  const params = mayDeclareSecrets(source) ? false : null
  return { names: names ?? [name], functions: functions.map((own): Entry => [own, params]) }
}

const imported = /\b(?:from|import|require)\s*\(?\s*['"`]([^'"`]+)['"`]/g

/** Whether a file may declare secret parameters, in its own text or in a file that it imports. */
const mayDeclareSecrets = (source: string): boolean =>
  /secret/i.test(source) ||
  [...source.matchAll(imported)].some(([, from = '']) => from !== 'salt-ts' && !from.startsWith('node:'))
