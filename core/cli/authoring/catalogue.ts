/**
 * Generates the declaration file that types `call('hello.greet', { name: 'Ada' })` for the functions of a folder of
 * modules.
 */
import path from 'node:path'
import { readSource } from '../../loader/describe/read-source.ts'
import { importFile } from '../../loader/files/import-file.ts'
import { listFolder } from '../../loader/files/index-files.ts'
import { listFunctions } from '../../loader/functions.ts'
import { namesOf } from '../../loader/offer/virtual.ts'

/** First line of a generated file. */
export const GENERATED_HEADER =
  '// Written by `salt-ts types`: the functions here, for the types of `call`. Changes are lost.\n'

/**
 * Return the text of the file. JavaScript files are left out, since they have no types; so are files that cannot be
 * read, which `unread` lists.
 */
export async function catalogueOf(
  folder: string,
): Promise<{ text: string; names: string[]; unread: string[] }> {
  const entries = new Map<string, string>()
  const unread: string[] = []
  for (const { name, candidates } of listFolder(folder)) {
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

/**
 * Return pairs of full name (`hello.greet`) and export name. The file is imported only if its source does not show
 * them.
 */
async function functionsOf(file: string, name: string): Promise<[string, string][]> {
  const { names, functions } = await readSource(file, name)
  if (names && functions) return pairs(names, functions)
  const namespace = await importFile({ path: file, builtIn: false })
  return pairs(names ?? namesOf(namespace, name), [...listFunctions(namespace).keys()])
}

const pairs = (modules: readonly string[], functions: readonly string[]): [string, string][] =>
  modules.flatMap((module) => functions.map((own): [string, string] => [`${module}.${own}`, own]))

/** Return the import specifier of the compiled file. */
const specifier = (file: string) => `./${file.replaceAll(path.sep, '/').replace(/\.(m?)ts$/, '.$1js')}`

const typeOf = (from: string, own: string) => `typeof import(${literal(from)})[${literal(own)}]`

/** Return a text in single quotes, whatever characters the name of a file has. */
const literal = (text: string): string =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`

function render(entries: readonly (readonly [string, string])[]): string {
  const lines = entries.map(([name, type]) => `    ${literal(name)}: ${type}\n`)
  return `${GENERATED_HEADER}declare module 'salt-ts' {\n  interface Functions {\n${lines.join('')}  }\n}\n\nexport {}\n`
}
