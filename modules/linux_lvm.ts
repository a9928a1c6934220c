/** Show and change the volumes of LVM. Where something fails, what LVM says is the return, and the exit code is its own. */
import { realpath, stat } from 'node:fs/promises'
import { type Context, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { outputLines, run as runProgram } from './_host/programs.ts'

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

const devices = p.union(p.string(), p.array(p.string()))
const forced = p.default(p.boolean(), true)
const unforced = p.default(p.boolean(), false)
const override = p.default(
  p.boolean({ description: 'Whether to pass over devices with which there is nothing to do.' }),
  true,
)
const options = p.keywords(p.any({ description: 'Further options of the program, such as alloc=anywhere.' }))
const volume = p.string({ pattern: '^(?!-)' })
const amount = p.optional(p.string({ pattern: '^[^-]' }))

/**
 * Make devices physical volumes; those that are, stay as they are. True, or what is wrong.
 *
 * @example salt '*' lvm.pvcreate /dev/sdb1,/dev/sdb2
 * @example salt '*' lvm.pvcreate /dev/sdb1 dataalignmentoffset=7s
 */
export const pvcreate = fn(
  { devices, override, force: forced, kwargs: options },
  async ({ devices, override, force, kwargs }, context) => {
    const all = deviceList(devices)
    if (all.length === 0) return 'Error: at least one device is required'
    const absent = await firstWhere(all, async (device) => !(await exists(device)))
    if (absent !== undefined) return `${absent} does not exist`
    const wanted = await keptWhere(all, async (device) => !(await isPhysical(device, context)))
    if (!override && wanted.length < all.length)
      return `Device "${all.find((device) => !wanted.includes(device))}" is already an LVM physical volume.`
    if (wanted.length === 0) return true
    const words = ['pvcreate', confirmed(force), ...wanted, ...optionWords(kwargs, PV_OPTIONS)]
    return (await failureOf(words, context)) ?? (await unaffected(all, true, context))
  },
)

/**
 * Make physical volumes plain devices again; others stay as they are. True, or what is wrong.
 *
 * @example salt '*' lvm.pvremove /dev/sdb1,/dev/sdb2
 */
export const pvremove = fn({ devices, override, force: forced }, async ({ devices, ...how }, context) => {
  const all = deviceList(devices)
  return (await onPhysical('pvremove', all, how, context)) ?? (await unaffected(all, false, context))
})

/**
 * Take in that the devices of physical volumes have another size. True, or what is wrong.
 *
 * @example salt '*' lvm.pvresize /dev/sdb1,/dev/sdb2
 */
export const pvresize = fn(
  { devices, override, force: forced },
  async ({ devices, ...how }, context) =>
    (await onPhysical('pvresize', deviceList(devices), how, context)) ?? true,
)

/**
 * Make a volume group of physical volumes. Returns it, and `Output from vgcreate`.
 *
 * @example salt '*' lvm.vgcreate my_vg /dev/sdb1,/dev/sdb2 clustered=y
 */
export const vgcreate = fn(
  { vgname: volume, devices, force: unforced, kwargs: options },
  async ({ vgname, devices, force, kwargs }, context) => {
    const all = deviceList(devices)
    if (vgname === '' || all.length === 0) return 'Error: vgname and device(s) are both required'
    const words = ['vgcreate', vgname, ...all, confirmed(force), ...optionWords(kwargs, VG_OPTIONS)]
    const said = (await failureOf(words, context)) ?? `Volume group "${vgname}" successfully created`
    const groups = byFirst(await rowsOf('vgdisplay', vgname, false, context), GROUP)
    return { ...groups, 'Output from vgcreate': said }
  },
)

/**
 * Add physical volumes to a volume group. Returns `Output from vgextend`.
 *
 * @example salt '*' lvm.vgextend my_vg /dev/sdb1,/dev/sdb2
 */
export const vgextend = fn(
  { vgname: volume, devices, force: unforced },
  async ({ vgname, devices, force }, context) => {
    const all = deviceList(devices)
    if (vgname === '' || all.length === 0) return 'Error: vgname and device(s) are both required'
    const said = await failureOf(['vgextend', vgname, confirmed(force), ...all], context)
    return { 'Output from vgextend': said ?? `Volume group "${vgname}" successfully extended` }
  },
)

/**
 * Remove a volume group. Returns what was done, or what is wrong.
 *
 * @example salt '*' lvm.vgremove vgname
 */
export const vgremove = fn({ vgname: volume, force: forced }, async ({ vgname, force }, context) => {
  const said = await failureOf(['vgremove', vgname, confirmed(force)], context)
  return said ?? `Volume group "${vgname}" successfully removed`
})

/**
 * Make a logical volume of a size (`10G`) or of extents (`100%FREE`): also a snapshot of another one, a thin pool, or a volume of
 * one. Returns it, and `Output from lvcreate`.
 *
 * @example salt '*' lvm.lvcreate new_volume_name vg_name size=10G
 * @example salt '*' lvm.lvcreate new_volume_name vg_name extents=100 pv=/dev/sdb
 * @example salt '*' lvm.lvcreate new_snapshot vg_name snapshot=volume_name size=3G
 */
export const lvcreate = fn(
  {
    lvname: volume,
    vgname: volume,
    size: amount,
    extents: amount,
    snapshot: p.optional(volume),
    pv: p.optional(volume),
    thinvolume: p.default(p.boolean(), false),
    thinpool: p.default(p.boolean(), false),
    force: unforced,
    kwargs: options,
  },
  async ({ lvname, vgname, size, extents, ...given }, context) => {
    const { snapshot, pv, thinvolume, thinpool, force, kwargs } = given
    if (size && extents) return 'Error: Please specify only one of size or extents'
    if (thinvolume && thinpool) return 'Error: Please set only one of thinvolume or thinpool to True'
    if (extents && thinvolume) return 'Error: Thin volume size cannot be specified as extents'
    if (!size && !extents) return 'Error: Either size or extents must be specified'
    const words = [
      ...[
        'lvcreate',
        ...(thinpool ? ['--thinpool', lvname] : [...(thinvolume ? ['--thin'] : []), '-n', lvname]),
      ],
      ...(snapshot ? ['-s', `${vgname}/${snapshot}`] : [vgname]),
      ...(size ? [thinvolume ? '-V' : '-L', size] : ['-l', String(extents)]),
      ...[...(pv ? [pv] : []), ...optionWords(kwargs, LV_OPTIONS), confirmed(force)],
    ]
    const said = (await failureOf(words, context)) ?? `Logical volume "${lvname}" created.`
    const volumes = byFirst(await rowsOf('lvdisplay', `/dev/${vgname}/${lvname}`, false, context), LOGICAL)
    return { ...volumes, 'Output from lvcreate': said }
  },
)

/**
 * Remove a logical volume. Returns what was done, or what is wrong.
 *
 * @example salt '*' lvm.lvremove lvname vgname force=True
 */
export const lvremove = fn(
  { lvname: volume, vgname: volume, force: forced },
  async ({ lvname, vgname, force }, context) => {
    const said = await failureOf(['lvremove', `${vgname}/${lvname}`, confirmed(force)], context)
    return said ?? `Logical volume "${lvname}" successfully removed`
  },
)

const resizing = {
  size: amount,
  lvpath: p.optional(volume),
  extents: amount,
  force: unforced,
  resizefs: p.default(p.boolean(), false),
}

/**
 * Give a logical volume another size, also a smaller one; with `resizefs`, the file system too. Returns `Output from lvresize`.
 *
 * @example salt '*' lvm.lvresize +12M /dev/mapper/vg1-test
 * @example salt '*' lvm.lvresize lvpath=/dev/mapper/vg1-test extents=+100%FREE
 */
export const lvresize = fn(resizing, ({ force, ...given }, context) =>
  resized('lvresize', force ? '--force' : '-qq', given, context),
)

/**
 * Make a logical volume larger; with `resizefs`, the file system too. Returns `Output from lvextend`.
 *
 * @example salt '*' lvm.lvextend +12M /dev/mapper/vg1-test
 * @example salt '*' lvm.lvextend lvpath=/dev/mapper/vg1-test extents=+100%FREE
 */
export const lvextend = fn(resizing, ({ force, ...given }, context) =>
  resized('lvextend', confirmed(force), given, context),
)

interface Resizing {
  readonly size?: string | undefined
  readonly lvpath?: string | undefined
  readonly extents?: string | undefined
  readonly resizefs: boolean
}

async function resized(
  program: 'lvresize' | 'lvextend',
  confirmation: string,
  { size, lvpath, extents, resizefs }: Resizing,
  context: Context,
): Promise<Record<string, string>> {
  if (lvpath === undefined || Boolean(size) === Boolean(extents)) {
    context.log.error('Error: lvpath and either size or extents must be specified')
    return {}
  }
  const how = [...(resizefs ? ['--resizefs'] : []), ...(size ? ['-L', size] : ['-l', String(extents)])]
  const said = await failureOf([program, confirmation, ...how, lvpath], context)
  const done = program === 'lvresize' ? 'resized' : 'extended'
  return { [`Output from ${program}`]: said ?? `Logical volume "${lvpath}" successfully ${done}.` }
}

/** Run a program of LVM. It would complain about files that the minion has open. */
const run = (words: readonly string[], context: Context, how: { ignoreRetcode?: boolean } = {}) =>
  runProgram(words, context, { ...how, env: { LVM_SUPPRESS_FD_WARNINGS: '1' } })

const flagsOf = (words: string) => new Map(words.split(' ').map((word) => [word, false]))
const PV_OPTIONS = flagsOf(
  'metadatasize dataalignment dataalignmentoffset pvmetadatacopies metadatacopies metadataignore restorefile labelsector setphysicalvolumesize',
).set('norestorefile', true)
const VG_OPTIONS = flagsOf(
  'addtag alloc autobackup clustered maxlogicalvolumes maxphysicalvolumes metadatatype vgmetadatacopies metadatacopies physicalextentsize zero',
)
const LV_OPTIONS = flagsOf(
  'activate chunksize contiguous discards stripes stripesize minor persistent mirrors monitor permission poolmetadatasize readahead regionsize type virtualsize zero',
)
for (const alone of ['nosync', 'noudevsync', 'ignoremonitoring', 'thin']) LV_OPTIONS.set(alone, true)

/** Return further options as words. `known` tells which there are, and which of them have no value. */
function optionWords(
  given: Readonly<Record<string, unknown>>,
  known: ReadonlyMap<string, boolean>,
): string[] {
  const wanted = Object.entries(given).filter(([name, value]) => value && !name.startsWith('__'))
  const unknown = wanted.find(([name]) => !known.has(name))
  if (unknown !== undefined)
    throw new SaltInvocationError(
      `There is no option '${unknown[0]}'; known are ${[...known.keys()].join(', ')}`,
    )
  return wanted.flatMap(([name, value]) => (known.get(name) ? [`--${name}`] : [`--${name}`, String(value)]))
}

/** Run a program that changes volumes. Returns what it says if it fails. */
async function failureOf(words: readonly string[], context: Context): Promise<string | undefined> {
  const { retcode, stderr } = await run(words, context)
  return retcode === 0 ? undefined : stderr.trim()
}

/** Run a program on those of the devices that are physical volumes. Returns what is wrong, or true if there are none. */
async function onPhysical(
  program: string,
  all: readonly string[],
  { override, force }: { override: boolean; force: boolean },
  context: Context,
): Promise<string | true | undefined> {
  const wanted = await keptWhere(all, (device) => isPhysical(device, context, false))
  const other = all.find((device) => !wanted.includes(device))
  if (other !== undefined && !override) return `${other} is not a physical volume`
  return wanted.length === 0 ? true : failureOf([program, confirmed(force), ...wanted], context)
}

/** Tell which device is not (or is still) a physical volume; true if there is none. */
async function unaffected(
  all: readonly string[],
  isWanted: boolean,
  context: Context,
): Promise<string | true> {
  const left = await firstWhere(all, async (device) => (await isPhysical(device, context)) !== isWanted)
  return left === undefined ? true : `Device "${left}" was not affected.`
}

const confirmed = (force: boolean): string => (force ? '--yes' : '-qq')

async function isPhysical(device: string, context: Context, isQuiet = true): Promise<boolean> {
  return (await rowsOf('pvdisplay', device, isQuiet, context)).length > 0
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

async function keptWhere(all: readonly string[], test: (one: string) => Promise<boolean>): Promise<string[]> {
  const kept: string[] = []
  for (const one of all) if (await test(one)) kept.push(one)
  return kept
}

async function firstWhere(all: readonly string[], test: (one: string) => Promise<boolean>) {
  return (await keptWhere(all, test))[0]
}

/** Return devices of a list, or of a text with commas. One that begins with a dash would be an option. */
function deviceList(given: string | readonly string[]): string[] {
  const all = [given].flat().flatMap((text) => text.split(','))
  const option = all.find((device) => device.startsWith('-'))
  if (option !== undefined)
    throw new SaltInvocationError(`'${option}' is not a device: its name begins with a dash`)
  return all.filter(Boolean)
}

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
