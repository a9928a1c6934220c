/** The file that tells TypeScript of the functions in a folder of modules, for `call('hello.greet', { name: 'Ada' })`. */
import path from 'node:path'
import { listFunctions } from '../../loader/functions.ts'
import { importFile } from '../../loader/import-file.ts'
import { listFolder } from '../../loader/index-files.ts'
import { readSource } from '../../loader/read-source.ts'

/** How such a file begins. */
export const HEAD =
  '// Written by `salt-ts types`: the functions here, for the types of `call`. Changes are lost.\n'

/** Its text. Files of JavaScript are left out, having no types; so are those that cannot be read, named in `unread`. */
export async function catalogueOf(
  folder: string,
): Promise<{ text: string; names: string[]; unread: string[] }> {
  const entries = new Map<string, string>()
  const unread: string[] = []
  for (const { name, candidates } of await listFolder(folder)) {
    const file = candidates[0]?.path ?? ''
    if (!/\.m?ts$/.test(file)) continue
    const found = await functionsOf(file, name).catch((error: unknown) => {
      unread.push(error instanceof Error ? error.message : String(error))
      return []
    })
    const from = specifier(path.relative(folder, file))
    for (const [full, own] of found) if (!entries.has(full)) entries.set(full, typeOf(from, own))
  }
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  return { text: render(sorted), names: sorted.map(([name]) => name), unread }
}

/** `hello.greet` and the name it is exported by. The file is imported only if its text does not tell. */
async function functionsOf(file: string, name: string): Promise<[string, string][]> {
  const { names, functions } = await readSource(file, name)
  if (names && functions) return pairs(names, functions)
  const namespace = await importFile({ path: file, builtIn: false })
  const { virtualName, virtualAliases } = namespace
  const aliases = Array.isArray(virtualAliases) ? virtualAliases.map(String) : []
  const known = names ?? [typeof virtualName === 'string' ? virtualName : name, ...aliases]
  return pairs(known, [...listFunctions(namespace).keys()])
}

const pairs = (modules: readonly string[], functions: readonly string[]): [string, string][] =>
  modules.flatMap((module) => functions.map((own): [string, string] => [`${module}.${own}`, own]))

/** As a TypeScript file is imported whose compiled self is a module of Node. */
const specifier = (file: string) => `./${file.replaceAll(path.sep, '/').replace(/\.(m?)ts$/, '.$1js')}`

const typeOf = (from: string, own: string) => `typeof import('${from}')['${own}']`

function render(entries: readonly (readonly [string, string])[]): string {
  const lines = entries.map(([name, type]) => `    '${name}': ${type}\n`)
  return `${HEAD}declare module 'salt-ts' {\n  interface Functions {\n${lines.join('')}  }\n}\n\nexport {}\n`
}
