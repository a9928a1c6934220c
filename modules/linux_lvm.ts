/** Show the volumes of LVM. */
import { realpath } from 'node:fs/promises'
import { type Context, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { outputLines, run } from './_host/programs.ts'

export const virtualName = 'lvm'

export const virtual: Virtual = async () =>
  (await which('lvm')) !== null ||
  'The linux_lvm execution module cannot be loaded: the lvm binary is not in the path.'

const quiet = p.default(p.boolean({ description: 'Whether a failure leaves the exit code as it is.' }), false)
const name = p.default(p.string({ pattern: '^(?!-)' }), '')

/**
 * Return the version of LVM.
 *
 * @example salt '*' lvm.version
 */
export const version = fn(async (_, context) => {
  const [first = ''] = await outputLines(['lvm', 'version'], context)
  return first.slice(first.indexOf(':') + 1).trim()
})

/**
 * Return the versions of LVM, its library and driver.
 *
 * @example salt '*' lvm.fullversion
 */
export const fullversion = fn(async (_, context) => {
  const lines = (await outputLines(['lvm', 'version'], context)).filter((line) => line.includes(':'))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  )
})

/**
 * Return the physical volumes, or one; with `real`, by the device that a symlink leads to.
 *
 * @example salt '*' lvm.pvdisplay
 * @example salt '*' lvm.pvdisplay /dev/md0
 */
export const pvdisplay = fn(
  { pvname: name, real: p.default(p.boolean(), false), quiet },
  async ({ pvname, real, quiet }, context) => {
    const found = await rowsOf('pvdisplay', pvname, quiet, context)
    const volumes = found.map(async ([device = '', ...columns]) => {
      const path = real ? await realpath(device).catch(() => device) : device
      const volume = named(PHYSICAL, [device, ...columns])
      return [path, real ? { ...volume, 'Real Physical Volume Device': path } : volume] as const
    })
    return Object.fromEntries(await Promise.all(volumes))
  },
)

/**
 * Return the volume groups, or one.
 *
 * @example salt '*' lvm.vgdisplay
 */
export const vgdisplay = fn({ vgname: name, quiet }, async ({ vgname, quiet }, context) =>
  byFirst(await rowsOf('vgdisplay', vgname, quiet, context), GROUP),
)

/**
 * Return the logical volumes, or one.
 *
 * @example salt '*' lvm.lvdisplay
 * @example salt '*' lvm.lvdisplay /dev/vg_myserver/root
 */
export const lvdisplay = fn({ lvname: name, quiet }, async ({ lvname, quiet }, context) =>
  byFirst(await rowsOf('lvdisplay', lvname, quiet, context), LOGICAL),
)

const PHYSICAL = [
  ...['Physical Volume Device', 'Volume Group Name', 'Physical Volume Size (kB)'],
  ...['Internal Physical Volume Number', 'Physical Volume Status', 'Physical Volume (not) Allocatable'],
  ...['Current Logical Volumes Here', 'Physical Extent Size (kB)', 'Total Physical Extents'],
  ...['Free Physical Extents', 'Allocated Physical Extents'],
]
const GROUP = [
  ...['Volume Group Name', 'Volume Group Access', 'Volume Group Status', 'Internal Volume Group Number'],
  ...['Maximum Logical Volumes', 'Current Logical Volumes', 'Open Logical Volumes'],
  ...['Maximum Logical Volume Size', 'Maximum Physical Volumes', 'Current Physical Volumes'],
  ...['Actual Physical Volumes', 'Volume Group Size (kB)', 'Physical Extent Size (kB)'],
  ...['Total Physical Extents', 'Allocated Physical Extents', 'Free Physical Extents', 'UUID'],
]
const LOGICAL = [
  ...['Logical Volume Name', 'Volume Group Name', 'Logical Volume Access', 'Logical Volume Status'],
  ...['Internal Logical Volume Number', 'Open Logical Volumes', 'Logical Volume Size'],
  ...['Current Logical Extents Associated', 'Allocated Logical Extents', 'Allocation Policy'],
  ...['Read Ahead Sectors', 'Major Device Number', 'Minor Device Number'],
]

async function rowsOf(
  program: string,
  name: string,
  ignoreRetcode: boolean,
  context: Context,
): Promise<string[][]> {
  const { retcode, stdout } = await run([program, '-c', ...(name === '' ? [] : [name])], context, {
    ignoreRetcode,
  })
  const lines = retcode === 0 ? stdout.split('\n').filter((line) => line.includes(':')) : []
  return lines
    .filter((line) => !line.includes('is a new physical volume'))
    .map((line) => line.trim().split(':'))
}

const named = (names: readonly string[], values: readonly string[]) =>
  Object.fromEntries(names.map((name, at) => [name, values[at]]))

const byFirst = (rows: readonly string[][], names: readonly string[]) =>
  Object.fromEntries(rows.map((row) => [row[0], named(names, row)]))
