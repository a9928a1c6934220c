import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { searchDirectories, texts } from './directories.ts'
import type { Kind } from './kinds.ts'

type Config = Readonly<Record<string, unknown>>

/** A file that may provide something. */
export interface SourceFile {
  /** Name without ending: `test` for `modules/test.ts`. */
  readonly name: string
  readonly path: string
  readonly builtIn: boolean
  /** Changes when the file does. */
  readonly stamp: string
  /** Why it must not be used, if the config says so. */
  readonly excluded?: string
}

/** Endings in order of preference where one folder holds several of one name. */
const endings = ['.ts', '.mts', '.js', '.mjs', '.cjs']

/**
 * Every file of a kind in order of precedence. A file hides files of the same name in later folders; names that
 * start with `_` or `.` are helpers. Nothing is read but the folders.
 */
export async function indexFiles(kind: Kind, config: Config): Promise<SourceFile[]> {
  const found = new Map<string, SourceFile>()
  const disabled = new Set(texts(config[kind.disableKey]))
  for (const directory of searchDirectories(kind, config)) {
    for (const [name, file] of await listFolder(directory.path)) {
      if (found.has(name)) continue
      const excluded = disabled.has(name) ? { excluded: `it is listed in ${kind.disableKey}` } : {}
      found.set(name, { name, ...file, builtIn: directory.builtIn, ...excluded })
    }
  }
  return [...found.values()]
}

/** Files of one folder by name, sorted; a folder `name/` stands for its `name/index`, and goes before a file. */
async function listFolder(directory: string): Promise<[string, { path: string; stamp: string }][]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const names = new Set<string>()
  for (const entry of entries) {
    const plain = moduleName(entry.name) ?? (entry.isFile() ? undefined : entry.name)
    if (plain !== undefined && !/^[_.]|\.|^node_modules$/.test(plain)) names.add(plain)
  }
  const present = new Set(entries.map((entry) => entry.name))
  const files = await Promise.all(
    [...names].sort().map(async (name) => [name, await pick(directory, name, present)] as const),
  )
  return files.flatMap(([name, file]) => (file ? [[name, file] as [string, typeof file]] : []))
}

async function pick(directory: string, name: string, present: ReadonlySet<string>) {
  const inFolder = present.has(name)
    ? endings.map((ending) => path.join(directory, name, `index${ending}`))
    : []
  const beside = endings.filter((e) => present.has(name + e)).map((e) => path.join(directory, name + e))
  for (const candidate of [...inFolder, ...beside]) {
    const facts = await stat(candidate).catch(() => undefined)
    if (facts?.isFile()) return { path: candidate, stamp: `${facts.mtimeMs}:${facts.size}:${facts.ino}` }
  }
  return undefined
}

/** The file name without a known ending; declarations, tests and other endings are no modules. */
function moduleName(file: string): string | undefined {
  if (/\.(d|test|spec)\.[cm]?ts$/.test(file)) return undefined
  const ending = endings.find((candidate) => file.endsWith(candidate))
  return ending && file.slice(0, -ending.length)
}
