import type { FileClient, ModuleNames } from '../../author/files.ts'
import { type SafePath, safePath } from '../../base/files/safe-path.ts'
import { extensionNameOf, isSynced, moduleNameOf } from './names.ts'
import type { SyncType } from './types.ts'

/** A file to copy into `extension_modules`. */
export interface WantedFile {
  /** Path in the directory of its type. */
  readonly path: SafePath
  /** Path on the file server. */
  readonly source: string
  readonly saltenv: string
}

/** List the extensions of the file server in these environments, in their order. */
export async function listSources(
  files: FileClient,
  environments: readonly string[],
): Promise<readonly { readonly source: string; readonly saltenv: string }[]> {
  const lists = await Promise.all(
    environments.map(async (saltenv) =>
      (await files.list('files', saltenv, '_')).map((source) => ({ source, saltenv })),
    ),
  )
  return lists.flat()
}

/** Return the allowed files of one directory of a type, by path. If several environments have a path, the last one wins. */
export function wantedIn(
  folder: string,
  type: SyncType,
  sources: Awaited<ReturnType<typeof listSources>>,
  { whitelist, blacklist }: { readonly whitelist: ModuleNames; readonly blacklist: ModuleNames },
): Map<string, WantedFile> {
  const wanted = new Map<string, WantedFile>()
  const only = namesFor(type, whitelist)
  const never = namesFor(type, blacklist) ?? new Set()
  for (const { source, saltenv } of sources) {
    if (!source.startsWith(`_${folder}/`)) continue
    const path = safePath(source.slice(folder.length + 2))
    if (path === undefined || !isSynced(path)) continue
    const module = moduleNameOf(path)
    const isAllowed = module === undefined || only === undefined || isListed(module, only)
    if (isAllowed && !isListed(extensionNameOf(path), never)) wanted.set(path, { path, source, saltenv })
  }
  return wanted
}

/** Return the list of names for a type; undefined if there is none, which allows all. An empty list allows nothing. */
function namesFor({ name, kind, folders }: SyncType, lists: ModuleNames): ReadonlySet<string> | undefined {
  if (typeof lists === 'string' || Array.isArray(lists)) return new Set(namesIn(lists))
  const byType = new Map(Object.entries(lists as Readonly<Record<string, string | readonly string[]>>))
  const key = [name, ...(kind ? [kind] : []), ...folders].find((candidate) => byType.has(candidate))
  return key === undefined ? undefined : new Set(namesIn(byType.get(key) ?? []))
}

/** Read a list of names, or a text with names separated by commas. */
export const namesIn = (names: string | readonly string[]): string[] =>
  (typeof names === 'string' ? names.split(',') : [...names]).map((name) => name.trim()).filter(Boolean)

/** Whether a name is listed. A directory is listed by its name, with everything in it. */
function isListed(name: string, names: ReadonlySet<string>): boolean {
  return names.has(name) || names.has(name.split('.', 1)[0] as string)
}
