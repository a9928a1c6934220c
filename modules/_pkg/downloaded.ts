import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { mapConcurrently } from '#internal'

export type Downloaded = Record<string, Record<string, object>>

/** List the package files below a folder whose names have an ending, by name and version. */
export async function listPackageFiles(
  folder: string,
  ending: string,
  infoOf: (path: string) => Promise<{ readonly name: string; readonly version: string } | undefined>,
): Promise<Downloaded> {
  const entries = await readdir(folder, { recursive: true }).catch(() => [])
  const paths = entries.filter((entry) => entry.endsWith(ending)).map((entry) => join(folder, entry))
  const downloaded: Downloaded = {}
  const found = await mapConcurrently(paths, async (path) => ({ path, info: await infoOf(path) }), 4)
  for (const { path, info } of found)
    if (info) downloaded[info.name] = { ...downloaded[info.name], [info.version]: await described(path) }
  return downloaded
}

async function described(path: string) {
  const { size, ctimeMs } = await stat(path)
  const created = Math.floor(ctimeMs / 1000)
  const creation_date_time = new Date(created * 1000).toISOString().slice(0, 19)
  return { path, size, creation_date_time_t: created, creation_date_time }
}
