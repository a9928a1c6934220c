import { realpath } from 'node:fs/promises'
import { safeName } from 'salt-ts'
import { onlyIfGone } from './gone.ts'

/** The name in `file_roots` that stands for every environment without an entry of its own. */
const ANY = '__env__'

/** A root that is a link to the present release may be turned to the next one. */
const REMEMBERED_MS = 500
const KEPT = 256

export interface Environments {
  /** Sorted, `__env__` among them if there is such an entry. */
  readonly names: readonly string[]
  /** Directories of an environment that are there, without links. */
  realRoots(saltenv: string): Promise<string[]>
  /** Those of all environments, and what else links may lead to. */
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
    if (places.size >= KEPT) places.clear()
    places.set(key, { at: now, found })
    return found
  }
  return {
    names: [...roots.keys()].sort(),
    realRoots: (saltenv) => remembered(rootsOf(saltenv, roots)),
    allRealRoots: () => remembered(all),
  }
}

/** What a peer calls an environment becomes part of a path only if it is a plain name. */
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
