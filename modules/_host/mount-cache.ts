/** The mounts that Salt remembers, in `mounts` below cachedir. */
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { changeYamlFile, readYamlFile } from '../_grains/file.ts'

type Mounts = Readonly<Record<string, unknown>>

const WHAT = 'mount cache'

/** Return the remembered mounts by mount point; none if the file is missing or is no map. */
export async function cachedMounts(opts: Context['opts']): Promise<Mounts> {
  return mountsIn(await readYamlFile(pathOf(opts), WHAT))
}

/** Change the remembered mounts; undefined from `change` leaves the file as it is. Whatever else it has stays. */
export function changeMounts(
  opts: Context['opts'],
  change: (mounts: Mounts) => Mounts | undefined,
): Promise<void> {
  return changeYamlFile(pathOf(opts), WHAT, (cache) => {
    const mounts = change(mountsIn(cache))
    return mounts && { mounts }
  })
}

const pathOf = (opts: Context['opts']): string => join(String(opts.cachedir), 'mounts')

const mountsIn = ({ mounts }: Mounts): Mounts =>
  typeof mounts === 'object' && mounts !== null && !Array.isArray(mounts) ? (mounts as Mounts) : {}
