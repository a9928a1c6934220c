import fs, { readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Functions of `node:fs` that change what is at their first paths. */
const CHANGING: Readonly<Record<string, number>> = {
  writeFile: 1,
  appendFile: 1,
  mkdir: 1,
  rm: 1,
  rmdir: 1,
  unlink: 1,
  truncate: 1,
  chmod: 1,
  chown: 1,
  utimes: 1,
  rename: 2,
  link: 2,
  copyFile: 2,
  symlink: 2,
}
const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC } = fs.constants

const opensToWrite = (flags: unknown): boolean =>
  typeof flags === 'number'
    ? (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) !== 0
    : /[wa+]/.test(String(flags ?? 'r'))

type Functions = Record<string, (...given: unknown[]) => unknown>

/** Note every path that this process writes by `node:fs` until it is told to stop. Native libraries are not seen. */
export function watchWrites(): { readonly written: Set<string>; stop(): void } {
  const written = new Set<string>()
  const note = (path: unknown) => {
    if (typeof path === 'string' || path instanceof URL || Buffer.isBuffer(path)) written.add(placeOf(path))
  }
  const restore: (() => void)[] = []
  for (const { of, suffix } of [
    { of: fs.promises as unknown as Functions, suffix: '' },
    { of: fs as unknown as Functions, suffix: '' },
    { of: fs as unknown as Functions, suffix: 'Sync' },
  ]) {
    const replace = (name: string, notes: (given: unknown[]) => unknown[]) => {
      const original = of[name]
      if (!original) return
      restore.push(() => Object.assign(of, { [name]: original }))
      of[name] = (...given: unknown[]) => {
        for (const path of notes(given)) note(path)
        return original.apply(of, given)
      }
    }
    for (const [name, paths] of Object.entries(CHANGING))
      replace(name + suffix, (given) => given.slice(0, paths))
    replace(`open${suffix}`, ([path, flags]) => (opensToWrite(flags) ? [path] : []))
  }
  syncBuiltinESMExports()
  return {
    written,
    stop() {
      for (const each of restore) each()
      syncBuiltinESMExports()
    },
  }
}

/** The path as it is, with a directory that is named by its descriptor resolved. */
function placeOf(path: string | URL | Buffer): string {
  const text = path instanceof URL ? fileURLToPath(path) : resolve(String(path))
  return text.replace(/^\/proc\/self\/fd\/\d+(?=\/)/, (directory) => readlinkSync(directory))
}
