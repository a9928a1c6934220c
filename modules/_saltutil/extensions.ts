import { readdir } from 'node:fs/promises'
import { join, parse } from 'node:path'

/** List the extensions in each folder of `extension_modules`, without file extensions. */
export async function listExtensions(root: unknown): Promise<Record<string, string[]>> {
  if (typeof root !== 'string') return {}
  const types = await foldersIn(root)
  const lists = await Promise.all(types.map(async (type) => [type, await namesIn(join(root, type))] as const))
  return Object.fromEntries(lists)
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

async function namesIn(folder: string): Promise<string[]> {
  const files = await readdir(folder).catch(() => [])
  return [
    ...new Set(
      files
        .filter((name) => !/^[._]|^(node_modules|package\.json)$/.test(name))
        .map((name) => parse(name).name),
    ),
  ].sort()
}
