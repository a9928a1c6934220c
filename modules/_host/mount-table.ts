import { statfs } from 'node:fs/promises'
import { linesOf } from './files.ts'

/** A mounted file system. */
export interface Mount {
  readonly device: string
  readonly path: string
  readonly type: string
  readonly options: readonly string[]
}

/** Return the file systems that are mounted, in the order in which they were. */
export async function mounts(table = '/proc/self/mounts'): Promise<Mount[]> {
  return (await linesOf(table)).map((line) => {
    const [device = '', path = '', type = '', options = ''] = line.split(' ').map(unescaped)
    return { device, path, type, options: options.split(',') }
  })
}

/** The kernel writes white space and backslashes of names as octal numbers: `\040`. */
export const unescaped = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))

/** Return the size of a file system in bytes, and how much of it is free, and available to users other than root. */
export async function spaceOf(path: string): Promise<{ total: number; free: number; available: number }> {
  const { bsize, blocks, bfree, bavail } = await statfs(path)
  return { total: blocks * bsize, free: bfree * bsize, available: bavail * bsize }
}
