import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as lvm from '../../../modules/linux_lvm.ts'
import * as system from '../../../modules/system.ts'
import * as timezone from '../../../modules/timezone.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())
let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-system-')
  const echo = `echo "$(basename "$0")" "$@"`
  await stubPrograms(folder, {
    ...{ shutdown: echo, halt: echo, poweroff: echo, init: echo },
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
