import type { Stats } from 'node:fs'
import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandExecutionError } from 'salt-ts'
import { float } from '../_host/numbers.ts'
import { digest } from './hashes.ts'
import { groupName, userName } from './owners.ts'
import { exists, expandHome } from './paths.ts'

/** Return the permission bits of a file with four digits or more: `0644`. */
export const modeText = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** Normalize a mode as people write it (`644`, `0o644`, `'0644'`) to four digits; undefined stays. */
export function normalMode(mode: string | number | null | undefined): string | undefined {
  if (mode === null || mode === undefined) return undefined
  return String(mode).replace(/^'|'$/g, '').replace('0o', '0').replace(/^0+/, '').padStart(4, '0')
}

/** What `file.stats` returns. */
export async function statsOf(given: string, hashType: string | undefined, followSymlinks: boolean) {
  const path = await expandHome(given)
  const found = await (followSymlinks && (await exists(path)) ? stat(path) : lstat(path)).catch(() => {
    throw new CommandExecutionError(`Path not found: ${path}`)
  })
  return {
    inode: found.ino,
    uid: found.uid,
    gid: found.gid,
    group: await groupName(found.gid),
    user: await userName(found.uid),
    atime: float(found.atimeMs / 1000),
    mtime: float(found.mtimeMs / 1000),
    ctime: float(found.ctimeMs / 1000),
    size: found.size,
    mode: modeText(found.mode),
    ...(hashType && { sum: await digest(path, hashType) }),
    type: typeOf(found),
    target: await realPath(path),
  }
}

function typeOf(found: Stats): string {
  if (found.isDirectory()) return 'dir'
  if (found.isCharacterDevice()) return 'char'
  if (found.isBlockDevice()) return 'block'
  if (found.isSymbolicLink()) return 'link'
  if (found.isFIFO()) return 'pipe'
  return found.isSocket() ? 'socket' : 'file'
}

const MAX_LINKS = 40

/** Resolve symlinks as Python's `os.path.realpath`: what does not exist is kept as it is. */
export async function realPath(path: string, links = 0): Promise<string> {
  const full = resolve(path)
  try {
    return await realpath(full)
  } catch {
    const target = links < MAX_LINKS && (await readlink(full).catch(() => undefined))
    if (target) return realPath(resolve(dirname(full), target), links + 1)
    return full === '/' ? full : join(await realPath(dirname(full)), basename(full))
  }
}
