/** The contents of a directory in Salt's form. */
import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Name → `f` for a file, or the contents of the folder. Folders that are links are shown but not entered. */
export interface Tree {
  readonly [name: string]: 'f' | Tree
}

/** Return the tree; an empty one if the directory is missing or cannot be read. */
export async function treeOf(directory: string): Promise<Tree> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  const branches: [string, 'f' | Tree][] = []
  for (const entry of entries.sort(byName)) branches.push([entry.name, await branchOf(entry, directory)])
  return Object.fromEntries(branches)
}

async function branchOf(entry: Dirent, directory: string): Promise<'f' | Tree> {
  const path = join(directory, entry.name)
  if (entry.isDirectory()) return treeOf(path)
  const target = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : undefined
  return target?.isDirectory() ? {} : 'f'
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1)
