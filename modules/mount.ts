/** Mount file systems, and read and change /etc/fstab. */
import { constants } from 'node:fs'
import { mkdir, open, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { CommandExecutionError, CommandNotFoundError, type Context, fn, p, type Virtual } from 'salt-ts'
import { findUser } from './_cmd/users.ts'
import { which } from './_cmd/which.ts'
import { linesOf, reasonOf, rewrite } from './_host/files.ts'
import { escaped, matchedFields, matches, oneField, readEntry, writeEntry } from './_host/fstab.ts'
import { cachedMounts, changeMounts } from './_host/mount-cache.ts'
import { type Mount, mounts, unescaped } from './_host/mount-table.ts'
import { output, run } from './_host/programs.ts'
import { inTurn } from './_lock/in-turn.ts'

const name = p.string()
const config = p.default(p.string(), '/etc/fstab')
const opts = p.default(p.union(p.string(), p.array(p.string())), 'defaults')
const fstype = p.default(p.string(), '')
const user = p.optional(p.string())
const util = p.default(p.string(), 'mount')
const mkmnt = p.default(p.boolean(), false)

export const virtual: Virtual = ({ grains }) =>
  grains.kernel === 'Linux' || 'The mount module reads /proc/self/mounts, which only Linux has'

/**
 * Return the mounted file systems by mount point; with `extended`, also their ids, UUIDs and labels.
 *
 * @example salt '*' mount.active
 * @example salt '*' mount.active extended=True
 */
export const active = fn(
  { extended: p.default(p.boolean(), false) },
  async ({ extended }, context): Promise<Record<string, Record<string, unknown>>> => {
    const shown = await devicesOfMount(context)
    return extended ? activeMountInfo(shown, context) : activeMounts(await mounts(), shown)
  },
)

/**
 * Return the entries of fstab by mount point. A mount point that occurs again has a `_` after its name.
 *
 * @example salt '*' mount.fstab
 */
export const fstab = fn({ config }, async ({ config }) => {
  const table: Record<string, object> = {}
  for (const line of await linesOf(config)) {
    const entry = readEntry(line)
    if (entry === undefined) continue
    const { device, fstype, opts, dump, pass_num } = entry
    let { name } = entry
    while (Object.hasOwn(table, name)) name += '_'
    table[name] = { device, fstype, opts: opts.split(','), dump, pass: pass_num }
  }
  return table
})

/**
 * Remove the entries of a mount point and device from fstab. True, also if there was none.
 *
 * @example salt '*' mount.rm_fstab /mnt/foo /dev/sdg
 */
export const rm_fstab = fn({ name, device: p.string(), config }, ({ name, device, config }, context) => {
  const wanted = { name: escaped(name), device: escaped(device) }
  return inTurn(config, context, async () => {
    const text = await readConfig(config)
    const kept = text.split('\n').filter((line) => {
      const entry = readEntry(line)
      return entry?.name !== wanted.name || entry.device !== wanted.device
    })
    if (kept.join('\n') !== text) await rewrite(config, kept.join('\n'))
    return true
  })
})

/**
 * Set an entry of fstab. Returns `new`, `change` or `present`. `match_on` tells by which fields the line to change is found,
 * with `not_change` a line that is found is left as it is, and with `test` nothing is written.
 *
 * @example salt '*' mount.set_fstab /mnt/foo /dev/sdz1 ext4
 * @example salt '*' mount.set_fstab /data server:/data nfs opts='[ro, soft]' match_on=name
 */
export const set_fstab = fn(
  {
    name,
    device: p.string(),
    fstype: p.string(),
    opts,
    dump: p.default(p.integer(), 0),
    pass_num: p.default(p.integer(), 0),
    config,
    test: p.default(p.boolean(), false),
    match_on: p.default(p.union(p.string(), p.array(p.string())), 'auto'),
    not_change: p.default(p.boolean(), false),
  },
  async ({ config, test, match_on, not_change, ...given }, context) => {
    const entry = {
      name: oneField(given.name),
      device: oneField(given.device),
      fstype: oneField(given.fstype),
      opts: oneField([given.opts].flat().join(',')),
      dump: String(given.dump),
      pass_num: String(given.pass_num),
    }
    const fields = matchedFields(match_on, entry.fstype)
    const found = await stat(config).catch(() => undefined)
    if (!found?.isFile()) throw new CommandExecutionError(`Bad config file "${config}"`)
    return inTurn(config, context, async () => {
      const lines = (await readConfig(config)).split('\n')
      if (lines.at(-1) === '') lines.pop()
      const isFound = (line: string) => matches(readEntry(line), entry, fields)
      const isOther = (line: string) => isFound(line) && !not_change && !matches(readEntry(line), entry)
      const isNew = !lines.some(isFound)
      if (!isNew && !lines.some(isOther)) return 'present'
      const changed = lines.map((line) => (isOther(line) ? writeEntry(entry) : line))
      const all = isNew ? [...changed, writeEntry(entry)] : changed
      const isTest = test || context.opts.test === true
      if (!isTest) await rewrite(config, `${all.join('\n')}\n`)
      return isNew ? 'new' : 'change'
    })
  },
)

/**
 * Mount a file system. True, or the error text of `mount`. Without a device, the one that fstab has for the mount point.
 * `mkmnt` makes the mount point, for `user`.
 *
 * @example salt '*' mount.mount /mnt/foo /dev/sdz1 True
 * @example salt '*' mount.mount /mnt/foo /dev/sdz1 fstype=ext4 opts='[ro, noatime]'
 */
export const mount = fn(
  { name, device: p.default(p.union(p.boolean(), p.string()), false), mkmnt, fstype, opts, user, util },
  async ({ name, device, ...options }, context) => {
    if (!UTILS.includes(options.util)) return false
    refuseUtil(options.util)
    return mountAt(name, device === true ? '' : device || '', options, context)
  },
)

/**
 * Mount a file system again with other options; mount it, if it is not mounted.
 *
 * @example salt '*' mount.remount /mnt/foo /dev/sdz1 True opts=ro
 */
export const remount = fn(
  { name, device: p.string(), mkmnt, fstype, opts, user },
  async ({ name, device, ...options }, context) => {
    if (!(await isMounted(name))) return mountAt(name, device, options, context)
    const given = [options.opts].flat().flatMap((text) => text.split(','))
    const all = given.includes('remount') ? given : [...given, 'remount']
    return attempt(
      ['mount', ...mountOptions(all, options.fstype), place(device), place(name)],
      options.user,
      context,
    )
  },
)

/**
 * Unmount a file system, named by its mount point, or the device if that is given. True, or the error text.
 *
 * @example salt '*' mount.umount /mnt/foo
 * @example salt '*' mount.umount /mnt/foo /dev/xvdc1
 */
export const umount = fn(
  { name, device: p.optional(p.string()), user, util },
  async ({ name, device, user, util }, context) => {
    refuseUtil(util)
    if (!(await isMounted(name))) return `${name} does not have anything mounted`
    return attempt(['umount', place(device || name)], user, context)
  },
)

/**
 * True if a program is built with libfuse.
 *
 * @example salt '*' mount.is_fuse_exec sshfs
 */
export const is_fuse_exec = fn({ cmd: p.string() }, async ({ cmd }, context) => {
  const path = await which(cmd)
  if (path === null) return false
  if ((await which('ldd')) === null) throw new CommandNotFoundError('ldd')
  return (await output(['ldd', path], context)).includes('libfuse')
})

/**
 * Return the swap areas in use.
 *
 * @example salt '*' mount.swaps
 */
export const swaps = fn(() => readSwaps())

/**
 * Use a swap area. Returns its `stats`, and whether it is `new`; an empty map if it could not be used.
 *
 * @example salt '*' mount.swapon /root/swapfile
 * @example salt '*' mount.swapon /root/swapfile priority=10
 */
export const swapon = fn({ name, priority: p.optional(p.integer()) }, async ({ name, priority }, context) => {
  const known = (await readSwaps())[name]
  if (known) return { stats: known, new: false }
  const options = priority === undefined ? [] : ['-p', String(priority)]
  await run(['swapon', ...options, '--', name], context)
  const stats = (await readSwaps())[name]
  return stats ? { stats, new: true } : {}
})

/**
 * Stop using a swap area. Null if it is not in use.
 *
 * @example salt '*' mount.swapoff /root/swapfile
 */
export const swapoff = fn({ name }, async ({ name }, context) => {
  if ((await readSwaps())[name] === undefined) return null
  await run(['swapoff', '--', name], context)
  return (await readSwaps())[name] === undefined
})

/**
 * True if something is mounted at a path.
 *
 * @example salt '*' mount.is_mounted /mnt/foo
 */
export const is_mounted = fn({ name }, ({ name }) => isMounted(name))

/**
 * Return the mount point of the file system that a path is on.
 *
 * @example salt '*' mount.get_mount_from_path /opt/some/nested/path
 */
export const get_mount_from_path = fn({ path: p.string() }, ({ path }) => mountPointOf(path))

/**
 * Return the device of the file system that a path is on.
 *
 * @example salt '*' mount.get_device_from_path /
 */
export const get_device_from_path = fn({ path: p.string() }, async ({ path }) => {
  const point = await mountPointOf(path)
  return (await mounts()).findLast(({ path }) => path === point)?.device ?? null
})

/**
 * Return what `mount.write_mount_cache` remembered of a mount point; an empty map, if nothing.
 *
 * @example salt '*' mount.read_mount_cache /mnt/share
 */
export const read_mount_cache = fn({ name }, async ({ name }, { opts }) => {
  const known = await cachedMounts(opts)
  return Object.hasOwn(known, name) ? known[name] : {}
})

/**
 * Remember how a mount point was mounted. Nothing is mounted.
 *
 * @example salt '*' mount.write_mount_cache /mnt/share /dev/sda1 False ext4 defaults,nosuid
 */
export const write_mount_cache = fn(
  { real_name: name, device: p.any(), mkmnt: p.any(), fstype: p.any(), mount_opts: p.any() },
  async ({ real_name, device, fstype, mkmnt, mount_opts }, { opts }) => {
    const remembered = { device, fstype, mkmnt, opts: mount_opts }
    await changeMounts(opts, (mounts) => ({ ...mounts, [real_name]: remembered }))
    return true
  },
)

/**
 * Forget what was remembered of a mount point. True, also if it was nothing.
 *
 * @example salt '*' mount.delete_mount_cache /mnt/share
 */
export const delete_mount_cache = fn({ real_name: name }, async ({ real_name }, { opts }) => {
  await changeMounts(opts, ({ [real_name]: forgotten, ...others }) =>
    forgotten === undefined ? undefined : others,
  )
  return true
})

/** Return the devices as `mount` shows them, by mount point. */
async function devicesOfMount(context: Context): Promise<Map<string, string>> {
  const { stdout } = await run(['mount', '-l'], context)
  const lines = stdout.split('\n').map((line) => /^(.+) on (.+) type /.exec(line))
  return new Map(lines.flatMap((found) => (found ? [[found[2] ?? '', found[1] ?? '']] : [])))
}

const activeMounts = (all: readonly Mount[], shown: ReadonlyMap<string, string>) =>
  Object.fromEntries(
    all.map(({ device, path, type, options }) => [
      path,
      { device, alt_device: shown.get(path) ?? null, fstype: type, opts: options },
    ]),
  )

async function activeMountInfo(shown: ReadonlyMap<string, string>, { call }: Context) {
  const known = (await which('blkid')) === null ? {} : await call('disk.blkid')
  const attributes = known as Readonly<Record<string, Readonly<Record<string, string>>>>
  const lines = await linesOf('/proc/self/mountinfo')
  return Object.fromEntries(
    lines.map((line) => {
      const words = line.split(' ').map(unescaped)
      const [mountid, parentid, number = '', root, path = '', opts = ''] = words
      const [fstype, device = '', superopts = ''] = words.slice(words.indexOf('-') + 1)
      const [major, minor] = number.split(':')
      return [
        path,
        {
          mountid,
          parentid,
          major,
          minor,
          root,
          opts: opts.split(','),
          fstype,
          device,
          alt_device: shown.get(path) ?? null,
          superopts: superopts.split(','),
          device_uuid: attributes[device]?.UUID?.toLowerCase() ?? null,
          device_label: attributes[device]?.LABEL ?? null,
        },
      ]
    }),
  )
}

async function readSwaps(): Promise<Record<string, object>> {
  const [, ...rows] = (await linesOf('/proc/swaps')).map((line) => line.split(/\s+/))
  return Object.fromEntries(
    rows.map(([name = '', type, size, used, priority]) => [unescaped(name), { type, size, used, priority }]),
  )
}

async function isMounted(path: string): Promise<boolean> {
  return (await mounts()).some((mount) => mount.path === path)
}

async function mountPointOf(path: string): Promise<string> {
  const points = new Set((await mounts()).map((mount) => mount.path))
  let folder = await existing(resolve(path))
  while (folder !== '/' && !points.has(folder)) folder = dirname(folder)
  return folder
}

/** Resolve the symlinks of a path, of which the last parts may not exist. */
async function existing(path: string): Promise<string> {
  if (path === '/') return path
  return realpath(path).catch(async () => join(await existing(dirname(path)), '.'))
}

interface MountOptions {
  readonly mkmnt: boolean
  readonly fstype: string
  readonly opts: string | readonly string[]
  readonly user?: string | undefined
}

async function mountAt(name: string, device: string, options: MountOptions, context: Context) {
  if (options.mkmnt) await makeMountPoint(name, options.user)
  const how = device === '' ? [] : [...mountOptions([options.opts].flat(), options.fstype), place(device)]
  return attempt(['mount', ...how, place(name)], options.user, context)
}

const mountOptions = (options: readonly string[], fstype: string): string[] => [
  ...(options.length > 0 ? ['-o', options.join(',')] : []),
  ...(fstype === '' ? [] : ['-t', fstype]),
]

async function makeMountPoint(path: string, user: string | undefined): Promise<void> {
  const made = await mkdir(path, { recursive: true })
  if (made === undefined || user === undefined) return
  const owner = await findUser(user)
  if (!owner) throw new CommandExecutionError(`User '${user}' is not available`)
  // The folder above may belong to the user, who could have put a link to another folder in its place.
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    () => {
      throw new CommandExecutionError(`The mount point ${path} was replaced while it was made`)
    },
  )
  await folder.chown(owner.uid, owner.gid).finally(() => folder.close())
}

async function attempt(words: readonly string[], runas: string | undefined, context: Context) {
  const { retcode, stderr } = await run(words, context, { runas })
  return retcode === 0 ? true : stderr
}

/** Refuse a device or mount point that would be an option. */
function place(path: string): string {
  if (!path.startsWith('-')) return path
  throw new CommandExecutionError(`A device or mount point cannot begin with a dash: '${path}'`)
}

/** What Salt mounts by. By others it mounts nothing. */
const UTILS = ['mount', 'guestfs', 'qemu_nbd']

function refuseUtil(util: string): void {
  if (util === 'mount') return
  throw new CommandExecutionError(`util '${util}' is not supported: only mount is`)
}

async function readConfig(config: string): Promise<string> {
  return readFile(config, 'utf8').catch((error: unknown) => {
    const { errno = 0 } = error as NodeJS.ErrnoException
    const reason = `[Errno ${Math.abs(errno)}] ${reasonOf(error)}: '${config}'`
    throw new CommandExecutionError(`Couldn't read from ${config}: ${reason}`)
  })
}
