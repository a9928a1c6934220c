import type { FileClient, ModuleNames } from '../../author/files.ts'
import { type SafePath, safePath } from '../../base/safe-path.ts'
import { isOurs, moduleOf, nameOf } from './names.ts'
import type { SyncType } from './types.ts'

/** A file that is to be in `extension_modules`. */
export interface WantedFile {
  /** Below the folder of its type. */
  readonly path: SafePath
  /** On the file server. */
  readonly source: string
  readonly saltenv: string
}

/** The file server's extensions in these environments. Of one path the last environment wins. */
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

/** Those of one folder of a type, by path, which the lists of names allow. */
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
    if (path === undefined || !isOurs(path)) continue
    const module = moduleOf(path)
    const isAllowed = module === undefined || only === undefined || isListed(module, only)
    if (isAllowed && !isListed(nameOf(path), never)) wanted.set(path, { path, source, saltenv })
  }
  return wanted
}

/** The list of a type; undefined if there is none, which allows all. An empty one allows nothing. */
function namesFor({ name, kind, folders }: SyncType, lists: ModuleNames): ReadonlySet<string> | undefined {
  if (typeof lists === 'string' || Array.isArray(lists)) return new Set(namesIn(lists))
  const byType = new Map(Object.entries(lists as Readonly<Record<string, string | readonly string[]>>))
  const key = [name, ...(kind ? [kind] : []), ...folders].find((candidate) => byType.has(candidate))
  return key === undefined ? undefined : new Set(namesIn(byType.get(key) ?? []))
}

/** A list, or text with commas. */
export const namesIn = (names: string | readonly string[]): string[] =>
  (typeof names === 'string' ? names.split(',') : [...names]).map((name) => name.trim()).filter(Boolean)

/** A folder is listed by its own name, with everything in it. */
function isListed(name: string, names: ReadonlySet<string>): boolean {
  return names.has(name) || names.has(name.split('.', 1)[0] as string)
}
