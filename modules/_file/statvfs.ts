import { readFile, stat, statfs } from 'node:fs/promises'
import { CommandExecutionError, type Context } from 'salt-ts'
import { runProgram } from '../_program/run.ts'
import { absolute } from './paths.ts'

/** Bits of `f_flag`, by the option of the mount. */
const FLAGS: Readonly<Record<string, number>> = {
  ro: 1,
  nosuid: 2,
  nodev: 4,
  noexec: 8,
  sync: 16,
  mand: 64,
  noatime: 1024,
  nodiratime: 2048,
  relatime: 4096,
}
const OF_FILE_SYSTEM = ['ro', 'sync', 'mand']

/** Return the facts about the file system of a path that statvfs(3) gives. */
export async function statvfsOf(given: string, context: Context) {
  const path = await absolute(given, 'File path must be absolute.')
  const failed = () => new CommandExecutionError(`Could not statvfs '${path}'`)
  const found = await statfs(path).catch(() => {
    throw failed()
  })
  const { retcode, stdout } = await runProgram(['stat', '-f', '-c', '%l %S', '--', path], context)
  const [f_namemax, f_frsize] = stdout.split(' ').map(Number)
  if (retcode !== 0 || f_namemax === undefined || f_frsize === undefined) throw failed()
  return {
    f_bavail: found.bavail,
    f_bfree: found.bfree,
    f_blocks: found.blocks,
    f_bsize: found.bsize,
    f_favail: found.ffree,
    f_ffree: found.ffree,
    f_files: found.files,
    f_flag: await flagsOf(path),
    f_frsize,
    f_namemax,
  }
}

async function flagsOf(path: string): Promise<number> {
  const { dev } = await stat(path, { bigint: true })
  const number = `${(dev >> 8n) & 0xfffn}:${(dev & 0xffn) | ((dev >> 12n) & ~0xffn)}`
  const rows = (await readFile('/proc/self/mountinfo', 'utf8').catch(() => '')).split('\n')
  const mounts = rows.map((row) => row.split(' ')).filter(([, , device]) => device === number)
  const below = mounts.filter(
    ([, , , , point = '']) => path === point || path.startsWith(point.replace(/\/?$/, '/')),
  )
  const [mount] = (below.length > 0 ? below : mounts).toSorted(
    (one, other) => (other[4] ?? '').length - (one[4] ?? '').length,
  )
  const ofMount = (mount?.[5] ?? '').split(',')
  const ofFileSystem = (mount?.at(-1) ?? '').split(',').filter((option) => OF_FILE_SYSTEM.includes(option))
  return [...new Set([...ofMount, ...ofFileSystem])].reduce(
    (flags, option) => flags | (FLAGS[option] ?? 0),
    0,
  )
}
