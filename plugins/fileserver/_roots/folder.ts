import type { BigIntStats } from 'node:fs'
import { readdir, readlink, stat } from 'node:fs/promises'
import { openInside } from '#internal'
import { onlyIfGone } from './gone.ts'

/** A directory as it was when it was read. */
export interface Folder {
  /** `device:inode` of the directory, the same whatever path leads to it. */
  readonly id: string
  readonly stamp: string
  /** Whether any later addition changes the stamp. */
  readonly settled: boolean
  readonly isEmpty: boolean
  readonly files: readonly string[]
  readonly folders: readonly string[]
  readonly links: readonly { readonly name: string; readonly target: string }[]
}

/** Directory at the root of a mounted disk. Only root may read it, and it holds no files to serve. */
const OF_THE_DISK = 'lost+found'

/** Longest clock tick of file systems; two changes within one tick look the same. */
const TICK_MS = 2_000

/**
 * Read a directory below one of `within`; return `known` if it has not changed. Undefined if it is elsewhere or gone; rejects
 * if it cannot be read. Names that are not UTF-8 are left out, as no request can name them.
 */
export async function readFolder(
  path: string,
  within: readonly string[],
  known: Folder | undefined,
): Promise<Folder | undefined> {
  if (known?.settled) {
    const now = await stat(path, { bigint: true }).catch(() => undefined)
    if (now && stampOf(now) === known.stamp) return known
  }
  const opened = await openInside(path, within, { kind: 'directory', onError: onlyIfGone })
  if (!opened) return undefined
  try {
    return await read(opened.stat, `/proc/self/fd/${opened.handle.fd}`).catch(() =>
      read(opened.stat, opened.path),
    )
  } catch (error) {
    return onlyIfGone(error)
  } finally {
    await opened.handle.close()
  }
}

async function read(facts: BigIntStats, path: string): Promise<Folder> {
  const entries = await readdir(path, { withFileTypes: true })
  const named = entries.filter(({ name }) => !name.includes('\ufffd'))
  const names = (is: (entry: (typeof named)[number]) => boolean) => named.filter(is).map(({ name }) => name)
  const links = await Promise.all(
    names((entry) => entry.isSymbolicLink()).map(async (name) => ({
      name,
      target: await readlink(`${path}/${name}`).catch(() => ''),
    })),
  )
  return {
    id: `${facts.dev}:${facts.ino}`,
    stamp: stampOf(facts),
    settled: Date.now() - Number(facts.mtimeMs) > TICK_MS,
    isEmpty: entries.length === 0,
    files: names((entry) => entry.isFile()),
    folders: names((entry) => entry.isDirectory() && entry.name !== OF_THE_DISK),
    links,
  }
}

const stampOf = ({ dev, ino, mtimeNs, ctimeNs }: BigIntStats): string => `${dev}:${ino}:${mtimeNs}:${ctimeNs}`
