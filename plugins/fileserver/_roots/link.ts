import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { isBelow } from 'salt-ts'
import { onlyIfGone } from './gone.ts'

export interface Link {
  readonly name: string
  /** As it is written. */
  readonly target: string
  /** What is served for it; nothing if it leads out, nowhere, or to a pipe or device. */
  readonly leadsTo: 'file' | 'directory' | undefined
  /** It leads to a place in the root it is in, or would. */
  readonly staysInside: boolean
}

/** Where a link in the directory `place` leads. `within`: where links may lead, real paths. */
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

/** A link that leads to what only others may read leads nowhere. */
function nowhereIfGone(error: NodeJS.ErrnoException): undefined {
  return error.code === 'EACCES' ? undefined : onlyIfGone(error)
}
