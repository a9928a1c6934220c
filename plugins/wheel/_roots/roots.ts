/** The directories of `file_roots` or `pillar_roots`, and the files at a path in them. */
import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { type Context, type SafePath, SaltInvocationError, safePath } from 'salt-ts'
import { type OpenedFile, openInside } from '#internal'

/** The option that has the directories. */
export type RootsOption = 'file_roots' | 'pillar_roots'

/** Return environment → directories. A value may be a list, a single directory, or nothing. */
export function rootsIn(opts: Context['opts'], option: RootsOption): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries((opts[option] ?? {}) as Readonly<Record<string, unknown>>)
  return new Map(entries.map(([saltenv, value]) => [saltenv, [value ?? []].flat().map(String)]))
}

/** Return the path if it stays inside the root that it is joined to. */
export function insidePath(path: string): SafePath {
  const safe = safePath(path)
  if (safe !== undefined) return safe
  throw new SaltInvocationError(
    `${JSON.stringify(path)} is not a path inside an environment: it must be relative, without '..'.`,
  )
}

/** A file found in one of the roots. */
interface Found {
  /** Path below the root as the configuration writes it. */
  readonly full: string
  readonly file: OpenedFile
}

/** Yield the files at a path, at most one per root, each open while the caller uses it. Links out of a root are skipped. */
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
