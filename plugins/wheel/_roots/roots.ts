/** The directories of `file_roots` or `pillar_roots`, and the files in them that a path means. */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Context,
  type OpenedFile,
  openInside,
  type SafePath,
  SaltInvocationError,
  safePath,
} from 'salt-ts'

/** The option that has the directories. */
export type RootsOption = 'file_roots' | 'pillar_roots'

/** Environment → directories. Each may be written as a list, as one, or as nothing. */
export function rootsIn(opts: Context['opts'], option: RootsOption): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries((opts[option] ?? {}) as Readonly<Record<string, unknown>>)
  return new Map(entries.map(([saltenv, value]) => [saltenv, [value ?? []].flat().map(String)]))
}

/** The path, if it stays inside of where it is put. */
export function insidePath(path: string): SafePath {
  const safe = safePath(path)
  if (safe !== undefined) return safe
  throw new SaltInvocationError(
    `${JSON.stringify(path)} is not a path inside an environment: it is relative, and has no '..' in it.`,
  )
}

/** A file as it was found in one of the roots. */
interface Found {
  /** Where it lies, as the configuration has the root. */
  readonly full: string
  readonly file: OpenedFile
}

/** The files that a path means, one of each root, open while they are looked at. What links lead to elsewhere is none. */
export async function* filesAt(roots: readonly string[], path: SafePath): AsyncGenerator<Found, void> {
  for (const root of roots) {
    const real = await realpath(root).catch(() => undefined)
    const file = real === undefined ? undefined : await openInside(join(real, path), [real])
    if (!file) continue
    try {
      yield { full: join(root, path), file }
    } finally {
      await file.handle.close()
    }
  }
}
