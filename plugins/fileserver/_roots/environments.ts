import { realpath } from 'node:fs/promises'
import { safeName } from 'salt-ts'
import { onlyIfGone } from './gone.ts'

/** The name in `file_roots` for all environments without an entry of their own. */
const ANY = '__env__'

/** How long resolved paths are cached. A root may be a link to the current release, and change. */
const REMEMBERED_MS = 500
const MAX_PLACES = 256

export interface Environments {
  /** Sorted names; `__env__` is one of them if there is such an entry. */
  readonly names: readonly string[]
  /** Existing directories of an environment, with links resolved. */
  realRoots(saltenv: string): Promise<string[]>
  /** Directories of all environments, and the other directories that links may lead to. */
  allRealRoots(): Promise<string[]>
}

export function openEnvironments(opts: Readonly<Record<string, unknown>>): Environments {
  const roots = new Map(Object.entries((opts.file_roots ?? {}) as Record<string, readonly string[]>))
  const linked = (opts.fileserver_linked_dirs ?? []) as readonly string[]
  const all = [...new Set([...[...roots.values()].flat(), ...linked])]
  const places = new Map<string, { readonly at: number; readonly found: Promise<string[]> }>()
  const remembered = (paths: readonly string[]): Promise<string[]> => {
    const key = paths.join('\0')
    const now = performance.now()
    const known = places.get(key)
    if (known && now - known.at < REMEMBERED_MS) return known.found
    const found = realPaths(paths)
    if (places.size >= MAX_PLACES) places.clear()
    places.set(key, { at: now, found })
    return found
  }
  return {
    names: [...roots.keys()].sort(),
    realRoots: (saltenv) => remembered(rootsOf(saltenv, roots)),
    allRealRoots: () => remembered(all),
  }
}

/** Return the roots of an environment. The name, which a peer chooses, becomes part of a path only if it is a plain name. */
function rootsOf(saltenv: string, roots: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const own = roots.get(saltenv)
  if (own) return own
  const name = safeName(saltenv)
  return name === undefined ? [] : (roots.get(ANY) ?? []).map((root) => root.replaceAll(ANY, () => name))
}

async function realPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(onlyIfGone)))
  return found.filter((path) => path !== undefined)
}
