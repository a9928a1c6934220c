import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { searchDirectories, texts } from './directories.ts'
import type { Kind } from './kinds.ts'

type Config = Readonly<Record<string, unknown>>

/** Who has such a file wonders why nothing of it is there. */
export const NOT_RUN =
  'Python modules are not run; core/author/docs/from-python.md of salt-ts says how to rewrite them in TypeScript'

/** Where syncs note the Python files of the file server, which they do not bring: paths there, by kind. */
export const pythonRecord = (config: Config): string =>
  path.join(String(config.extension_modules), 'python-files.json')

/** Python files that would serve a name of a kind, in folders that are searched and on the file server. */
export async function pythonFiles(kind: Kind, config: Config, name: string): Promise<string[]> {
  if (!/^\w+$/.test(name)) return []
  const folders = (await searchDirectories(kind, config)).filter(({ builtIn }) => !builtIn)
  const candidates = folders.flatMap((folder) =>
    [`${name}.py`, path.join(name, '__init__.py')].map((file) => path.join(folder.path, file)),
  )
  const there = await Promise.all(
    candidates.map(async (file) => ((await stat(file).catch(() => undefined))?.isFile() ? [file] : [])),
  )
  return [...new Set([...there.flat(), ...(await served(kind, config, name))])]
}

async function served(kind: Kind, config: Config, name: string): Promise<string[]> {
  const noted = await notedPython(config)
  return (noted[kind.name] ?? []).filter((source) => path.basename(source) === `${name}.py`)
}

/** What the last syncs have noted. */
export async function notedPython(config: Config): Promise<Readonly<Record<string, readonly string[]>>> {
  if (texts(config.extension_modules).length === 0) return {}
  try {
    const noted: object = JSON.parse(await readFile(pythonRecord(config), 'utf8'))
    return Object.fromEntries(Object.entries(noted).map(([kind, sources]) => [kind, texts(sources)]))
  } catch {
    return {} // there is none, or somebody else has written there
  }
}
