/** Show and set up disks and their file systems. */
import { CommandExecutionError, CommandNotFoundError, type Context, fn, p, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { dfFlags, readDf, readInodes } from './_host/disk-free.ts'
import { protectedArea, readHdparm } from './_host/hdparm.ts'
import { averageReports } from './_host/iostat.ts'
import { output, outputLines, requireProgram, run } from './_host/programs.ts'

const device = p.string()
const flags = p.optional(p.string({ description: 'Options of df as letters, such as hl.' }))
const names = p.optional(p.union(p.string(), p.array(p.string())))

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The disk module knows only the programs of Linux'

/**
 * Return what `df` shows of each mounted file system.
 *
 * @example salt '*' disk.usage
 * @example salt '*' disk.usage h
 */
export const usage = fn({ args: flags }, async ({ args }, context) => {
  const rows = readDf(await df(['-P', ...dfFlags(args, 'disk.usage')], context))
  return Object.fromEntries(
    rows.map(([filesystem, blocks, used, available, capacity, path = '']) => [
      path,
      { filesystem, '1K-blocks': blocks, used, available, capacity },
    ]),
  )
})

/**
 * Return how many inodes each mounted file system has and uses.
 *
 * @example salt '*' disk.inodeusage
 */
export const inodeusage = fn({ args: flags }, async ({ args }, context) => {
  const rows = readInodes(await df(['-iP', ...dfFlags(args, 'disk.inodeusage')], context))
  return Object.fromEntries(
    rows.map(([filesystem, inodes, used, free, use, path = '']) => [
      path,
      { inodes, used, free, use, filesystem },
    ]),
  )
})

/**
 * Return how much of each mounted file system is used, in per cent, or of the one at a path.
 *
 * @example salt '*' disk.percent
 * @example salt '*' disk.percent /var
 */
export const percent = fn({ args: p.optional(p.string()) }, async ({ args: path }, context) => {
  const rows = readDf(await df(['-P'], context))
  const found: Record<string, string> = Object.fromEntries(
    rows.map(([, , , , capacity = '', path = '']) => [path, capacity]),
  )
  if (!path) return found
  if (found[path] !== undefined) return found[path]
  context.log.error(`Problem parsing disk usage information: Partition '${path}' does not exist!`)
  return {}
})

/**
 * Return the attributes of block devices: their UUID, TYPE, LABEL, ….
 *
 * @example salt '*' disk.blkid
 * @example salt '*' disk.blkid /dev/sda
 * @example salt '*' disk.blkid token='UUID=6a38ee5-7235-44e7-8b22-816a403bad5d'
 */
export const blkid = fn(
  {
    device: p.optional(p.string()),
    // salt-ts-ignore undeclared-secret: it is a tag of a device
    token: p.optional(p.string()),
  },
  async ({ device, token }, context) => {
    await requireProgram('blkid')
    const choice = device ? ['--', asPath(device)] : token ? ['-t', token] : []
    const { retcode, stdout } = await run(['blkid', ...choice], context)
    if (retcode !== 0) return {}
    const lines = stdout.split('\n').filter(Boolean)
    return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(':')), attributesIn(line)]))
  },
)

/**
 * Set attributes of a block device and return those that were set: `read-ahead`, `filesystem-read-ahead`, `read-only`,
 * `read-write`.
 *
 * @example salt '*' disk.tune /dev/sda1 read-ahead=1024 read-write=True
 */
export const tune = fn({ device, kwargs: p.keywords(p.any()) }, async ({ device, kwargs }, context) => {
  const known = Object.entries(kwargs).flatMap(([name, value]) => {
    const change = TUNABLE.get(name)
    return change ? [{ ...change, value }] : []
  })
  const options = known.flatMap(({ set, value }) =>
    value === true || value === 'True' ? [`--${set}`] : [`--${set}`, String(value)],
  )
  await output(['blockdev', ...options, asPath(device)], context)
  const found = await readBlockDevice(device, context)
  return (
    found &&
    picked(
      found,
      known.map(({ get }) => get),
    )
  )
})

/**
 * Erase the signatures of file systems on a block device. True if that succeeded.
 *
 * @example salt '*' disk.wipe /dev/sda1
 */
export const wipe = fn({ device }, async ({ device }, context) => {
  const { retcode, stderr } = await run(['wipefs', '-a', '--', asPath(device)], context)
  if (retcode !== 0) context.log.error(`Error wiping device ${device}: ${stderr}`)
  return retcode === 0
})

/**
 * Return the attributes of a block device, or some of them; false if it cannot be read.
 *
 * @example salt '*' disk.dump /dev/sda1
 * @example salt '*' disk.dump /dev/sda1 '[getro, getsize64]'
 */
export const dump = fn(
  { device, args: p.optional(p.array(p.string())) },
  async ({ device, args }, context) => {
    const found = await readBlockDevice(device, context)
    return args === undefined || args.length === 0 || !found ? found : picked(found, args)
  },
)

/**
 * Enlarge the ext file system on a block device to its size. True if that succeeded.
 *
 * @example salt '*' disk.resize2fs /dev/sda1
 */
export const resize2fs = fn(
  { device },
  async ({ device }, context) => (await run(['resize2fs', asPath(device)], context)).retcode === 0 || null,
)

/**
 * Make a file system on a block device. What it had is lost.
 *
 * @example salt '*' disk.format /dev/sdX1
 * @example salt '*' disk.format /dev/sdX1 fs_type=xfs force=True
 */
const format_ = fn(
  {
    device,
    fs_type: p.default(p.string(), 'ext4'),
    inode_size: p.optional(p.integer()),
    lazy_itable_init: p.optional(p.integer()),
    fat: p.optional(p.integer()),
    force: p.default(p.boolean(), false),
  },
  async ({ device, fs_type, ...options }, context) => {
    await requireProgram('mkfs')
    const words = ['mkfs', '-t', fs_type, ...formatOptions(fs_type, options), asPath(device)]
    const made = await run(words, context, { ignoreRetcode: true })
    const synced = await run(['sync'], context, { ignoreRetcode: true })
    return made.retcode === 0 && synced.retcode === 0
  },
)

export { format_ as format }

/**
 * Return the type of the file system on a device.
 *
 * @example salt '*' disk.fstype /dev/sdX1
 */
export const fstype = fn({ device }, async ({ device }, context) => {
  const [lsblk, hasDf] = [await which('lsblk'), (await which('df')) !== null]
  if (lsblk === null && !hasDf) {
    throw new CommandNotFoundError('None of provided binaries(["\'lsblk\'", "\'df\'"]) were found in $PATH.')
  }
  const onDevice =
    lsblk === null
      ? ''
      : ((await outputLines(['lsblk', '-o', 'fstype', asPath(device)], context))[1]?.trim() ?? '')
  if (onDevice !== '' || !hasDf) return onDevice
  const { retcode, stdout } = await run(['df', '--output=fstype', asPath(device)], context)
  return retcode === 0 ? (stdout.split('\n')[1]?.trim() ?? '') : ''
})

/**
 * Return the type of the file system at a path.
 *
 * @example salt '*' disk.get_fstype_from_path /root
 */
export const get_fstype_from_path = fn({ path: p.string() }, async ({ path }, { call }) => {
  const found = await call('mount.get_device_from_path', { path })
  return call('disk.fstype', { device: String(found) })
})

/**
 * Return what a disk's SMART attributes are, as a map of their number; only some, with `attributes`, and only some columns,
 * with `values`.
 *
 * @example salt '*' disk.smart_attributes /dev/sda
 * @example salt '*' disk.smart_attributes /dev/sda attributes='[187, 188]'
 */
export const smart_attributes = fn(
  {
    dev: p.string(),
    attributes: p.optional(p.array(p.integer())),
    values: p.optional(p.array(p.string())),
  },
  async ({ dev, attributes, values }, context) => {
    const path = dev.startsWith('/dev/') ? dev : `/dev/${dev}`
    const { retcode, stdout, stderr } = await run(['smartctl', '--attributes', path], context)
    if (retcode !== 0) throw new CommandExecutionError(stderr)
    return readSmart(stdout.split('\n'), attributes, values)
  },
)

/**
 * Return averages of the reports of `iostat`. `interval` is in seconds.
 *
 * @example salt '*' disk.iostat 1 5 disks=sda
 */
export const iostat = fn(
  {
    interval: p.default(p.integer({ minimum: 1 }), 1),
    count: p.default(p.integer({ minimum: 1 }), 5),
    disks: names,
  },
  async ({ interval, count, disks }, context) => {
    await requireProgram('iostat')
    const which = disks === undefined ? ['-x'] : ['-xd']
    const words = ['iostat', ...which, String(interval), String(count), ...[disks ?? []].flat()]
    return averageReports((await run(words, context)).stdout)
  },
)

const disks = p.union(p.string(), p.array(p.string()))

/**
 * Return what `hdparm` shows of disks. `args` are the letters of its options, all that only read by default.
 *
 * @example salt '*' disk.hdparms /dev/sda
 * @example salt '*' disk.hdparms '[sda, sdb]' args=aAC
 */
export const hdparms = fn(
  { disks, args: p.optional(p.union(p.string(), p.array(p.string()))) },
  async ({ disks, args }, context) => parametersOf(disks, args, context),
)

/**
 * Return the sectors of disks: `total`, and with a host protected area also `visible` and `hidden` ones. Salt's `size`, which sets
 * the area, is refused: it may lose data.
 *
 * @example salt '*' disk.hpa /dev/sda
 */
export const hpa = fn({ disks, size: p.optional(p.any()) }, async ({ disks, size }, context) => {
  if (size !== undefined && size !== null)
    throw new CommandExecutionError('disk.hpa does not set a host protected area: use hdparm -N on the host')
  const found = await parametersOf(disks, 'N', context)
  return Object.fromEntries(Object.entries(found).map(([disk, data]) => [disk, protectedArea(data)]))
})

const HDPARM_LETTERS = 'aAbBcCdgHiJkMmNnQrRuW'

async function parametersOf(
  disks: string | readonly string[],
  args: string | readonly string[] = HDPARM_LETTERS,
  context: Context,
): Promise<Record<string, Record<string, unknown>>> {
  await requireProgram('hdparm')
  const letters = [args].flat().join('')
  const unknown = [...letters].find((letter) => !HDPARM_LETTERS.includes(letter))
  if (unknown !== undefined)
    throw new CommandExecutionError(
      `'${unknown}' is not a letter that only reads; use some of ${HDPARM_LETTERS}`,
    )
  const found: Record<string, Record<string, unknown>> = {}
  for (const name of [disks].flat()) {
    const disk = name.startsWith('/dev') ? name : `/dev/${name}`
    found[disk] = readHdparm((await run(['hdparm', `-${letters}`, disk], context)).stdout)
  }
  return found
}

const TUNABLE = new Map([
  ['read-ahead', { set: 'setra', get: 'getra' }],
  ['filesystem-read-ahead', { set: 'setfra', get: 'getfra' }],
  ['read-only', { set: 'setro', get: 'getro' }],
  ['read-write', { set: 'setrw', get: 'getro' }],
])

const BLOCK_ATTRIBUTES = [
  ...['getro', 'getsz', 'getss', 'getpbsz', 'getiomin', 'getioopt', 'getalignoff', 'getmaxsect'],
  ...['getsize', 'getsize64', 'getra', 'getfra'],
]

async function df(options: readonly string[], context: Context): Promise<string[]> {
  return outputLines(['df', ...options], context)
}

/** A name that begins with a dash would be an option of the program. */
function asPath(device: string): string {
  if (!device.startsWith('-')) return device
  throw new CommandExecutionError(`'${device}' is not a device: its name begins with a dash`)
}

function attributesIn(line: string): Record<string, string> {
  return Object.fromEntries(
    [...line.matchAll(/([\w-]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [name, value]),
  )
}

async function readBlockDevice(device: string, context: Context): Promise<false | Record<string, string>> {
  const options = BLOCK_ATTRIBUTES.map((name) => `--${name}`)
  const { retcode, stdout } = await run(['blockdev', ...options, asPath(device)], context)
  if (retcode !== 0) return false
  const lines = stdout.split('\n').filter(Boolean)
  return Object.fromEntries(lines.map((line, at) => [BLOCK_ATTRIBUTES[at] ?? '', line]))
}

const picked = (
  found: Record<string, string>,
  names: readonly string[],
): Record<string, string | undefined> => Object.fromEntries(names.map((name) => [name, found[name]]))

interface FormatOptions {
  readonly inode_size?: number | undefined
  readonly lazy_itable_init?: number | undefined
  readonly fat?: number | undefined
  readonly force: boolean
}

function formatOptions(type: string, { inode_size, lazy_itable_init, fat, force }: FormatOptions): string[] {
  const isExt = type.startsWith('ext')
  const words: string[] = []
  if (inode_size !== undefined && isExt) words.push('-i', String(inode_size))
  if (inode_size !== undefined && type === 'xfs') words.push('-i', `size=${inode_size}`)
  if (lazy_itable_init !== undefined && isExt) words.push('-E', `lazy_itable_init=${lazy_itable_init}`)
  if (fat !== undefined && [12, 16, 32].includes(fat) && type.endsWith('fat')) words.push('-F', String(fat))
  if (force && isExt) words.push('-F')
  if (force && type === 'xfs') words.push('-f')
  return words
}

function readSmart(
  lines: readonly string[],
  attributes: readonly number[] | undefined,
  values: readonly string[] | undefined,
): Record<string, Record<string, unknown>> {
  const start = lines.findIndex((line) => line.startsWith('ID#'))
  const [, ...columns] = (lines[start] ?? '').trim().toLowerCase().split(/\s+/)
  const end = lines.findIndex((line, at) => at > start && !/^\s*\d/.test(line))
  const rows = start < 0 ? [] : lines.slice(start + 1, end < 0 ? undefined : end)
  const found = rows.flatMap((line) => {
    const [number = '', ...cells] = line.trim().split(/\s+/)
    if (attributes && !attributes.includes(Number(number))) return []
    const last = columns.length - 1
    const all = [...cells.slice(0, last), cells.slice(last).join(' ')]
    const kept = columns.flatMap((column, at) =>
      values === undefined || values.includes(column) ? [[column, smartValue(all[at] ?? '')]] : [],
    )
    return [[number, Object.fromEntries(kept) as Record<string, unknown>] as const]
  })
  return Object.fromEntries(found)
}

function smartValue(text: string): unknown {
  if (!/^\d+( \d+)*$/.test(text)) return text
  const numbers = text.split(' ').map(Number)
  return numbers.length === 1 ? numbers[0] : numbers
}
