import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as mount from '../../../modules/mount.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const FSTAB = `# static file systems
/dev/sda1 / ext4 defaults 0 1

tmpfs /tmp tmpfs nosuid,nodev
/dev/sdb1 /tmp ext4 rw
`
let folder: string
let config: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-mount-')
  config = join(folder, 'fstab')
  await writeFile(config, FSTAB)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})
const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())
const set = (given: Record<string, unknown>) => ask(mount.set_fstab, { config, ...given })
const content = () => readFile(config, 'utf8')

describe('fstab', () => {
  test('is read by mount point, and a second entry of one gets a _', async () => {
    expect(await ask(mount.fstab, { config })).toEqual({
      '/': { device: '/dev/sda1', fstype: 'ext4', opts: ['defaults'], dump: '0', pass: '1' },
      '/tmp': { device: 'tmpfs', fstype: 'tmpfs', opts: ['nosuid', 'nodev'], dump: '0', pass: '0' },
      '/tmp_': { device: '/dev/sdb1', fstype: 'ext4', opts: ['rw'], dump: '0', pass: '0' },
    })
    expect(await ask(mount.fstab, { config: join(folder, 'none') })).toEqual({})
  })

  test('set_fstab adds and changes entries, and does not change one whose options differ only in order', async () => {
    expect(await set({ name: '/new disk', device: '/dev/sdc1', fstype: 'xfs' })).toBe('new')
    expect(await content()).toBe(`${FSTAB}/dev/sdc1\t\t/new\\040disk\txfs\tdefaults\t0 0\n`)
    expect(await set({ name: '/tmp', device: 'tmpfs', fstype: 'tmpfs', opts: ['nodev', 'nosuid'] })).toBe(
      'change',
    )
    await writeFile(config, FSTAB)
    expect(
      await set({
        name: '/tmp',
        device: 'tmpfs',
        fstype: 'tmpfs',
        opts: 'nodev,nosuid',
        match_on: ['name', 'device'],
      }),
    ).toBe('present')
    expect(await set({ name: '/x', device: '/dev/sda1', fstype: 'ext4', not_change: true })).toBe('present')
    expect(await content()).toBe(FSTAB)
  })

  test('nothing is written in test mode', async () => {
    expect(await set({ name: '/x', device: '/dev/sdx', fstype: 'ext4', test: true })).toBe('new')
    const given = { name: '/x', device: '/dev/sdx', fstype: 'ext4', config }
    expect(await call(mount.set_fstab, given, fakeContext({ opts: { test: true } }))).toBe('new')
    expect(await content()).toBe(FSTAB)
  })

  test('set_fstab refuses unknown fields, and a missing file', async () => {
    await expect(set({ name: '/x', device: '/y', fstype: 'ext4', match_on: 'foo' })).rejects.toThrow(
      'Unrecognized keys in match_on: "foo"',
    )
    await expect(set({ name: '/x', device: '/y', fstype: 'ext4', config: '/none' })).rejects.toThrow(
      'Bad config file "/none"',
    )
  })

  test.each(['name', 'device', 'fstype', 'opts'])(
    'set_fstab refuses a second entry within %s',
    async (field) => {
      const given = { name: '/x', device: '/y', fstype: 'ext4', [field]: 'a\n/dev/loop0 /etc ext4 suid 0 0' }
      await expect(set(given)).rejects.toThrow('cannot contain a line break')
      expect(await content()).toBe(FSTAB)
    },
  )

  test('rm_fstab removes the entry of a mount point and device', async () => {
    expect(await ask(mount.rm_fstab, { name: '/tmp', device: 'tmpfs', config })).toBe(true)
    expect(await content()).toBe(FSTAB.replace('tmpfs /tmp tmpfs nosuid,nodev\n', ''))
    await expect(ask(mount.rm_fstab, { name: '/', device: 'x', config: '/none' })).rejects.toThrow(
      "Couldn't read from /none: [Errno 2] No such file or directory: '/none'",
    )
  })
})

describe('What is mounted', () => {
  test('is found by active, is_mounted and fstab for a path', async () => {
    expect(await ask(mount.active)).toHaveProperty(['/proc'], expect.objectContaining({ fstype: 'proc' }))
    expect(await ask(mount.is_mounted, { name: '/proc' })).toBe(true)
    expect(await ask(mount.is_mounted, { name: '/none' })).toBe(false)
    expect(await ask(mount.get_mount_from_path, { path: '/proc/self/none' })).toMatch(/^\/proc/)
    expect(await ask(mount.get_device_from_path, { path: '/proc' })).toBe('proc')
    expect(await ask(mount.swaps)).toBeTypeOf('object')
    expect(await ask(mount.swapoff, { name: '/none' })).toBeNull()
  })
})

describe('Programs (stubs)', () => {
  beforeEach(() =>
    stubPrograms(folder, {
      mount: `echo "$@" >> ${'$'}0.log; case "$*" in *broken*) echo 'no such device' >&2; exit 32;; esac`,
      umount: `echo "$@" >> ${'$'}0.log`,
    }),
  )
  const log = (name: string) => readFile(join(folder, `${name}.log`), 'utf8')

  test('mount passes options, device and mount point as words, and makes the mount point', async () => {
    const name = join(folder, 'a b')
    const given = { name, device: '/dev/sdz1', mkmnt: true, fstype: 'ext4', opts: ['ro', 'noatime'] }
    expect(await ask(mount.mount, given)).toBe(true)
    expect(await log('mount')).toBe(`-o ro,noatime -t ext4 /dev/sdz1 ${name}\n`)
  })

  test('a failure is the error text of mount', async () => {
    expect(await ask(mount.mount, { name: '/none', device: 'broken' })).toBe('no such device')
  })

  test('mounts nothing with an unknown program', async () => {
    expect(await ask(mount.mount, { name: '/none', device: 'x', util: 'nosuch' })).toBe(false)
  })

  test('remount adds the option, and mounts a mount point that is not mounted', async () => {
    expect(await ask(mount.remount, { name: '/proc', device: 'proc', opts: 'ro' })).toBe(true)
    expect(await ask(mount.remount, { name: '/none', device: 'x' })).toBe(true)
    expect(await log('mount')).toBe('-o ro,remount proc /proc\n-o defaults x /none\n')
  })

  test('a link that replaces the new mount point gives the user no other folder', needs(ROOT), async () => {
    const [name, victim] = [join(folder, 'point'), join(folder, 'victim')]
    await mkdir(victim)
    // It is asked for the user after the folder was made, and before the folder is given to the user.
    await stubPrograms(folder, {
      getent: `if [ -d ${name} ]; then rmdir ${name}; ln -s ${victim} ${name}; fi; echo planter:x:4242:4242::/:/bin/sh`,
    })
    const given = { name, device: '/dev/sdz1', mkmnt: true, user: 'planter' }
    await expect(ask(mount.mount, given)).rejects.toThrow(`The mount point ${name} was replaced`)
    expect((await stat(victim)).uid).toBe(0)
  })

  test.each([
    [mount.mount, { name: '-a' }],
    [mount.mount, { name: '/x', device: '-Tevil' }],
    [mount.umount, { name: '/proc', device: '-a' }],
    [mount.remount, { name: '/proc', device: '-a' }],
  ])('refuse options where a device or mount point belongs', async (fn, given) => {
    await expect(ask(fn, given)).rejects.toThrow('cannot begin with a dash')
  })

  test('umount unmounts only mounted file systems', async () => {
    expect(await ask(mount.umount, { name: '/none' })).toBe('/none does not have anything mounted')
    expect(await ask(mount.umount, { name: '/proc' })).toBe(true)
    expect(await log('umount')).toBe('/proc\n')
  })
})

describe('The remembered mounts', () => {
  const within = () => hostContext({}, { opts: { cachedir: folder } })

  test('are written, read and removed, in the file of Salt, whose other content stays', async () => {
    await writeFile(join(folder, 'mounts'), 'other: 1\n')
    const given = { real_name: '/mnt', device: 'dev', mkmnt: true, fstype: 'ext4', mount_opts: ['ro'] }
    expect(await call(mount.write_mount_cache, given, within())).toBe(true)
    expect(await call(mount.read_mount_cache, { name: '/mnt' }, within())).toEqual({
      device: 'dev',
      fstype: 'ext4',
      mkmnt: true,
      opts: ['ro'],
    })
    expect(await readFile(join(folder, 'mounts'), 'utf8')).toContain('other: 1')
    expect(await call(mount.delete_mount_cache, { real_name: '/mnt' }, within())).toBe(true)
    expect(await call(mount.read_mount_cache, { name: '/mnt' }, within())).toEqual({})
    expect(await call(mount.delete_mount_cache, { real_name: 'toString' }, within())).toBe(true)
  })

  test('keep comments, are written by concurrent jobs, and are not lost if the file cannot be read', async () => {
    await writeFile(join(folder, 'mounts'), '# ours\nmounts: {}\n')
    const names = ['/a', '/b', '/c', '/d']
    const given = { device: 'dev', mkmnt: true, fstype: 'ext4', mount_opts: ['ro'] }
    await Promise.all(
      names.map((real_name) => call(mount.write_mount_cache, { real_name, ...given }, within())),
    )
    const text = await readFile(join(folder, 'mounts'), 'utf8')
    expect(text).toContain('# ours')
    for (const name of names) expect(text).toContain(name)
    await writeFile(join(folder, 'mounts'), 'mounts: {')
    await expect(call(mount.write_mount_cache, { real_name: '/e', ...given }, within())).rejects.toThrow(
      'Unable to read existing mount cache',
    )
    expect(await readFile(join(folder, 'mounts'), 'utf8')).toBe('mounts: {')
  })
})
