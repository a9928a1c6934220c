import { readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Kind } from '../kinds.ts'
import { searchDirectories, stringsIn } from './directories.ts'

type Config = Readonly<Record<string, unknown>>

/** The explanation for users who have Python files. */
export const PYTHON_NOT_SUPPORTED =
  'Python modules are not supported; docs/from-python.md of salt-ts explains how to rewrite them in TypeScript'

/**
 * Return the path of the file in which syncs record the Python files of the file server, which they skip: paths by
 * kind.
 */
export const pythonRecord = (config: Config): string =>
  path.join(String(config.extension_modules), 'python-files.json')

/** List the Python files that would serve a name of a kind, in searched directories and on the file server. */
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
  const recorded = await recordedPython(config)
  return (recorded[kind.name] ?? []).filter((source) => path.basename(source) === `${name}.py`)
}

/** Read the record of Python files that the last syncs wrote. */
export async function recordedPython(config: Config): Promise<Readonly<Record<string, readonly string[]>>> {
  if (stringsIn(config.extension_modules).length === 0) return {}
  try {
    const recorded: object = JSON.parse(await readFile(pythonRecord(config), 'utf8'))
    return Object.fromEntries(Object.entries(recorded).map(([kind, sources]) => [kind, stringsIn(sources)]))
  } catch {
    return {} // there is none, or it is malformed
  }
}
