/**
 * Where tsx keeps what it has compiled. By itself it takes the folder `tsx-UID` of the temporary folder, whoever made it: another
 * user of the host could put code there, which this process would run. It also removes the folder `tsx` there, whatever is in it.
 */
import { lstatSync, mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/** Start Node's loader thread, where tsx runs with the environment of this moment. */
export function withPrivateEnvironment(startThread: () => void): void {
  const { TMPDIR } = process.env
  const folder = privateFolder()
  if (folder !== undefined) process.env.TMPDIR = folder
  try {
    startThread()
  } finally {
    if (TMPDIR === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = TMPDIR
  }
}

/** Load tsx. It asks for the temporary folder while it is loaded; programs that are started meanwhile get the usual one. */
export async function withPrivateFolder<T>(loadTsx: () => Promise<T>): Promise<T> {
  const { tmpdir } = os
  const folder = privateFolder()
  if (folder !== undefined) os.tmpdir = () => folder
  try {
    return await loadTsx()
  } finally {
    os.tmpdir = tmpdir
  }
}

/** Return a folder that only this user may write and read. If others have taken its name, tsx is told to keep nothing. */
function privateFolder(): string | undefined {
  const folder = path.join(os.tmpdir(), `salt-ts-${process.geteuid?.()}`)
  if (isPrivate(folder)) return folder
  process.env.TSX_DISABLE_CACHE = '1'
  return undefined
}

function isPrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const found = lstatSync(folder)
    return found.isDirectory() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0
  } catch {
    return false // it is a file, or the temporary folder is not writable
  }
}
