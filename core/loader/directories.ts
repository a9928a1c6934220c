import path from 'node:path'
import type { Kind } from './kinds.ts'
import { codeRoot } from './own-package.ts'

type Config = Readonly<Record<string, unknown>>

export interface SearchDirectory {
  readonly path: string
  readonly builtIn: boolean
}

/** Folders searched for a kind, the first wins: `-m`, `<kind>_dirs`, `extension_modules`, built in (as Salt). */
export function searchDirectories(kind: Kind, config: Config): SearchDirectory[] {
  const extensions = text(config.extension_modules)
  const folders = [
    ...[...texts(config.module_dirs)].reverse().flatMap((directory) => inside(directory, kind)),
    ...texts(config[kind.dirsKey]),
    ...(extensions === undefined ? [] : kind.folders.map((folder) => path.join(extensions, folder))),
  ]
  return [
    ...[...new Set(folders.map((folder) => path.resolve(folder)))].map((folder) => ({
      path: folder,
      builtIn: false,
    })),
    { path: path.join(codeRoot, kind.builtIn), builtIn: true },
  ]
}

/** `<dir>/modules`, or Salt's file server name `<dir>/_modules`. */
function inside(directory: string, kind: Kind): string[] {
  return kind.folders.flatMap((folder) => [path.join(directory, folder), path.join(directory, `_${folder}`)])
}

export function texts(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]
  return list.filter((item): item is string => typeof item === 'string' && item !== '')
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
