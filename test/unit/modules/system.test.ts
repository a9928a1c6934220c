import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { run } from '../../../core/testing/run.ts'
import * as lvm from '../../../modules/linux_lvm.ts'
import * as system from '../../../modules/system.ts'
import * as timezone from '../../../modules/timezone.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())
let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-system-')
  const echo = `echo "$(basename "$0")" "$@"`
  await stubPrograms(folder, {
    shutdown: echo,
    halt: echo,
    poweroff: echo,
    init: echo,
    hostnamectl: `printf 'a \\\\"desc\\\\"'`,
    timedatectl: `printf '   Local time: x\\n    Time zone: Europe/Berlin (CET, +0100)\\n  RTC in local TZ: no\\n'`,
    lvm: `printf '  LVM version:     2.03.16(2) (2022-05-18)\\n  Driver version:  4.47.0\\n'`,
    pvdisplay: `echo '  /dev/vdb:vg0:2048:-1:8:8:-1:4096:255:5:250:uuid'`,
    vgdisplay: `echo '  vg0:r/w:772:-1:0:1:0:-1:0:1:1:1044480:4096:255:250:5:uuid'`,
    lvdisplay: 'echo failed >&2; exit 5',
  })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

describe('system (stubs of programs)', () => {
  test('stops and restarts by shutdown', async () => {
    expect(await ask(system.reboot)).toBe('shutdown -r now')
    expect(await ask(system.reboot, { at_time: '10' })).toBe('shutdown -r 10')
    expect(await ask(system.shutdown, { at_time: '17:30' })).toBe('shutdown -h 17:30')
    expect(await ask(system.halt)).toBe('halt')
    expect(await ask(system.poweroff)).toBe('poweroff')
    expect(await ask(system.init, { runlevel: '3' })).toBe('init 3')
    await expect(ask(system.reboot, { at_time: '-c' })).rejects.toThrow("'-c' is not a time")
  })

  test('shows time and name', async () => {
    expect(await ask(system.get_system_time)).toMatch(/^\d\d:\d\d:\d\d [AP]M$/)
    expect(await ask(system.get_system_date)).toMatch(/^\w{3} \d\d\/\d\d\/\d{4}$/)
    vi.setSystemTime('2026-11-26T23:30:00Z')
    const utc_offset = '+0100'
    expect(await ask(system.get_system_date_time, { utc_offset })).toBe('2026-11-27 00:30:00')
    vi.useRealTimers()
    await expect(ask(system.get_system_time, { utc_offset: 'x' })).rejects.toThrow('Invalid UTC offset')
    expect(await ask(system.get_computer_desc)).toBe('a "desc"')
  })
})

describe('The clock (stubs of programs)', () => {
  const printed = async () => (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n')
  beforeEach(async () => {
    const log = `echo "$(basename "$0")" "$@" >> ${folder}/log`
    await stubPrograms(folder, { date: log, hwclock: log, hostnamectl: log })
    vi.setSystemTime('2026-11-26T23:30:15')
  })
  afterEach(() => vi.useRealTimers())

  test.each([
    [system.set_system_time, { newtime: '05:07:09 PM' }, '112617072026.09'],
    [system.set_system_time, { newtime: '12:05 AM' }, '112600052026.00'],
    [system.set_system_date, { newdate: '03-28-13' }, '032823302013.15'],
    [system.set_system_date, { newdate: '2027/01/31' }, '013123302027.15'],
    [system.set_system_date_time, { hours: 1, seconds: 0 }, '112601302026.00'],
  ] as [AnyFn, Record<string, unknown>, string][])('%# is set by date: %o', async (which, given, word) => {
    expect(await ask(which, given)).toBe(true)
    expect(await printed()).toEqual([`date ${word}`, 'hwclock --test --systohc', 'hwclock --systohc'])
  })

  test('a time of another zone is set in UTC', async () => {
    const given = { years: 2026, months: 1, days: 1, hours: 0, minutes: 30, seconds: 0, utc_offset: '+0100' }
    expect(await ask(system.set_system_date_time, given)).toBe(true)
    expect((await printed())[0]).toBe('date -u 123123302025.00')
  })

  test('an invalid time is refused, and nothing is set', async () => {
    expect(await ask(system.set_system_time, { newtime: '25:00' })).toBe(false)
    await expect(ask(system.set_system_date, { newdate: 'x' })).rejects.toThrow('Invalid date format')
    await expect(ask(system.set_system_date_time, { hours: 99 })).rejects.toThrow('are no date and time')
    await expect(ask(system.set_system_date, { newdate: '2026-02-30' })).rejects.toThrow(
      'Invalid date format',
    )
    await expect(printed()).rejects.toThrow('ENOENT')
  })

  test('the description is set by hostnamectl, and is no option of it', async () => {
    expect(await ask(system.set_computer_desc, { desc: '--static "x"' })).toBe(true)
    expect(await printed()).toEqual(['hostnamectl set-hostname --pretty -- --static \\"x\\"'])
  })
})

describe('timezone (recorded)', () => {
  test('reads timedatectl', async () => {
    expect(await ask(timezone.get_zone)).toBe('Europe/Berlin')
    expect(await ask(timezone.get_hwclock)).toBe('UTC')
    expect(await ask(timezone.get_offset)).toMatch(/^[+-]\d{4}$/)
  })

  test('refuses zones that do not exist, without a change', async () => {
    expect(await ask(timezone.set_zone, { timezone: 'No/Where' })).toBe(
      'Zone does not exist: /usr/share/zoneinfo/No/Where',
    )
    await expect(ask(timezone.set_zone, { timezone: '../../../etc/passwd' })).rejects.toThrow(
      'is not the name',
    )
  })
})

describe('lvm (recorded)', () => {
  test('reads versions and volumes', async () => {
    expect(await ask(lvm.version)).toBe('2.03.16(2) (2022-05-18)')
    expect(await ask(lvm.fullversion)).toMatchObject({ 'Driver version': '4.47.0' })
    expect(await ask(lvm.pvdisplay)).toMatchObject({ '/dev/vdb': { 'Volume Group Name': 'vg0' } })
    expect(await ask(lvm.vgdisplay)).toMatchObject({
      vg0: { 'Physical Extent Size (kB)': '4096', UUID: 'uuid' },
    })
  })

  test('a failure is an empty map, and with quiet no exit code', async () => {
    const context = hostContext()
    expect(await call(lvm.lvdisplay, { quiet: true }, context)).toEqual({})
    expect(context.retcode).toBe(0)
    await call(lvm.lvdisplay, {}, context)
    expect(context.retcode).toBe(5)
  })
})

describe('Volumes of LVM are changed (stand-ins of its programs)', () => {
  const log = async () => (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n')
  const a = () => join(folder, 'a')
  const b = () => join(folder, 'b')

  beforeEach(async () => {
    const record = `echo "$(basename "$0")" "$@" >> ${folder}/log; test "$LVM_SUPPRESS_FD_WARNINGS"`
    const names = [
      'pvremove',
      'pvresize',
      'vgcreate',
      'vgextend',
      'vgremove',
      'lvcreate',
      'lvremove',
      'lvresize',
    ]
    await stubPrograms(folder, {
      ...Object.fromEntries(names.map((name) => [name, record])),
      pvcreate: `${record}; for one; do case $one in /*) touch $one.pv;; esac; done`,
      pvdisplay: `[ -e $2.pv ] && echo "  $2:vg0:2048" || exit 5`,
      lvextend: 'echo no space >&2; exit 5',
    })
    await writeFile(a(), '')
    await writeFile(b(), '')
    await writeFile(`${b()}.pv`, '')
  })

  test('devices that are no physical volumes yet are initialised', async () => {
    expect(
      await ask(lvm.pvcreate, { devices: `${a()},${b()}`, kwargs: { metadatasize: 1, norestorefile: true } }),
    ).toBe(true)
    expect(await log()).toEqual([`pvcreate --yes ${a()} --metadatasize 1 --norestorefile`])
    expect(await ask(lvm.pvcreate, { devices: [a()], override: false })).toBe(
      `Device "${a()}" is already an LVM physical volume.`,
    )
    expect(await ask(lvm.pvcreate, { devices: '/none' })).toBe('/none does not exist')
    expect(await ask(lvm.pvcreate, { devices: [] })).toBe('Error: at least one device is required')
  })

  test('only physical volumes are removed and resized, and devices that were not changed are reported', async () => {
    expect(await ask(lvm.pvresize, { devices: [a(), b()], force: false })).toBe(true)
    const context = hostContext()
    expect(await call(lvm.pvremove, { devices: [a()], override: false }, context)).toBe(
      `${a()} is not a physical volume`,
    )
    expect(context.retcode).toBe(5)
    expect(await ask(lvm.pvremove, { devices: [b()] })).toBe(`Device "${b()}" was not affected.`)
    expect(await log()).toEqual([`pvresize -qq ${b()}`, `pvremove --yes ${b()}`])
  })

  test('groups and logical volumes are made, resized and removed', SLOW, async () => {
    expect(
      await ask(lvm.vgcreate, { vgname: 'vg0', devices: [b()], kwargs: { alloc: 'anywhere' } }),
    ).toMatchObject({
      vg0: { UUID: 'uuid' },
      'Output from vgcreate': 'Volume group "vg0" successfully created',
    })
    await ask(lvm.vgextend, { vgname: 'vg0', devices: a() })
    await ask(lvm.lvcreate, { lvname: 'l', vgname: 'vg0', size: '1G', pv: b(), kwargs: { nosync: true } })
    await ask(lvm.lvcreate, { lvname: 's', vgname: 'vg0', extents: '9', snapshot: 'l', force: true })
    await ask(lvm.lvcreate, { lvname: 't', vgname: 'vg0', size: '1G', thinvolume: true })
    expect(await ask(lvm.lvresize, { size: '+1G', lvpath: '/dev/vg0/l', resizefs: true })).toEqual({
      'Output from lvresize': 'Logical volume "/dev/vg0/l" successfully resized.',
    })
    expect(await ask(lvm.lvremove, { lvname: 'l', vgname: 'vg0' })).toBe(
      'Logical volume "l" successfully removed',
    )
    expect(await ask(lvm.vgremove, { vgname: 'vg0', force: false })).toBe(
      'Volume group "vg0" successfully removed',
    )
    expect(await log()).toEqual([
      `vgcreate vg0 ${b()} -qq --alloc anywhere`,
      `vgextend vg0 -qq ${a()}`,
      `lvcreate -n l vg0 -L 1G ${b()} --nosync -qq`,
      'lvcreate -n s -s vg0/l -l 9 --yes',
      'lvcreate --thin -n t vg0 -V 1G -qq',
      'lvresize -qq --resizefs -L +1G /dev/vg0/l',
      'lvremove vg0/l --yes',
      'vgremove vg0 -qq',
    ])
  })

  test('a failure is the error text of LVM, and its exit code', async () => {
    const context = hostContext()
    expect(await call(lvm.lvextend, { size: '1G', lvpath: '/dev/vg0/l' }, context)).toEqual({
      'Output from lvextend': 'no space',
    })
    expect(context.retcode).toBe(5)
    expect(await ask(lvm.lvextend, { size: '1G', extents: '1', lvpath: '/dev/vg0/l' })).toEqual({})
  })

  test('words that would be options of the programs are refused', async () => {
    await expect(ask(lvm.pvcreate, { devices: '--config=x' })).rejects.toThrow('is not a device')
    await expect(ask(lvm.vgcreate, { vgname: 'v', devices: b(), kwargs: { config: 'x' } })).rejects.toThrow(
      "There is no option 'config'",
    )
    await expect(run(lvm.vgremove, ['-f'])).rejects.toThrow('vgname')
  })
})
