import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isBelow } from '#internal'
import { onlyIfGone } from './gone.ts'

export interface Link {
  readonly name: string
  /** Target as the link has it, not resolved. */
  readonly target: string
  /** The kind of entry that the file server serves for the link; undefined if it leads outside, nowhere, or to a pipe or device. */
  readonly leadsTo: 'file' | 'directory' | undefined
  /** Whether the link leads to a path inside its own root, or would if the path existed. */
  readonly staysInside: boolean
}

/** Resolve a link in the directory `place`. `within` are the directories that links may lead to, as real paths. */
export async function resolveLink(
  place: string,
  { name, target }: Pick<Link, 'name' | 'target'>,
  root: string,
  within: readonly string[],
): Promise<Link> {
  const real = await realpath(`${place}/${name}`).catch(nowhereIfGone)
  const staysInside = isBelow(real ?? resolve(place, target), root)
  const facts =
    real !== undefined && within.some((directory) => isBelow(real, directory))
      ? await stat(real).catch(onlyIfGone)
      : undefined
  const leadsTo = facts?.isFile() ? 'file' : facts?.isDirectory() ? 'directory' : undefined
  return { name, target, leadsTo, staysInside }
}

/** Treat a link into a directory that may not be read as one that leads nowhere. */
function nowhereIfGone(error: NodeJS.ErrnoException): undefined {
  return error.code === 'EACCES' ? undefined : onlyIfGone(error)
}
