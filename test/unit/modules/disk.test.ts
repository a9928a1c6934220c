import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readDf, readInodes } from '../../../modules/_host/disk-free.ts'
import { averageReports } from '../../../modules/_host/iostat.ts'
import { readModules } from '../../../modules/_host/loaded-modules.ts'
import { readLocale, setLocaleInFile } from '../../../modules/_host/system-locale.ts'
import * as disk from '../../../modules/disk.ts'
import * as environ from '../../../modules/environ.ts'
import * as kmod from '../../../modules/kmod.ts'
import * as locale from '../../../modules/localemod.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())
let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-disk-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

describe('disk', () => {
  test('usage, inodeusage and percent have the root file system', async () => {
    expect(await ask(disk.usage)).toHaveProperty(['/', '1K-blocks'])
    expect(await ask(disk.inodeusage)).toHaveProperty(['/', 'inodes'])
    expect(await ask(disk.percent, { args: '/' })).toMatch(/^\d+%$/)
    expect(await ask(disk.percent, { args: '/none' })).toEqual({})
    await expect(ask(disk.usage, { args: 'z' })).rejects.toThrow('Invalid flag passed to disk.usage')
  })

  test('names with spaces are read (recorded)', () => {
    expect(readDf(['Filesystem x', '//nas/my share  100 40 60 40% /mnt/my share'])).toEqual([
      ['//nas/my share', '100', '40', '60', '40%', '/mnt/my share'],
    ])
    expect(readInodes(['Filesystem Inodes IUsed IFree IUse% Mounted on', 'vfat - - - - /boot'])).toEqual([
      ['vfat', '-', '-', '-', '-', '/boot'],
    ])
  })

  test('blkid, dump, format and smart_attributes read programs (recorded)', async () => {
    await stubPrograms(folder, {
      blkid: `echo '/dev/sda1: LABEL="my disk" UUID="A-1" TYPE="ext4"'`,
      blockdev: 'for n in 0 2048 512 512 512 0 0 128 2048 1048576 256 256; do echo $n; done',
      mkfs: 'exit 0',
      sync: 'exit 0',
      smartctl: `printf 'x\\nID# ATTRIBUTE_NAME FLAG RAW_VALUE\\n  5 Realloc 0x33 0\\n194 Temp 0x22 31 20 40\\n\\n'`,
    })
    expect(await ask(disk.blkid)).toEqual({ '/dev/sda1': { LABEL: 'my disk', UUID: 'A-1', TYPE: 'ext4' } })
    expect(await ask(disk.dump, { device: '/dev/sda', args: ['getsize64'] })).toEqual({
      getsize64: '1048576',
    })
    expect(await ask(disk.format, { device: '/dev/sdx' })).toBe(true)
    expect(await ask(disk.smart_attributes, { dev: 'sda', values: ['raw_value'] })).toEqual({
      5: { raw_value: 0 },
      194: { raw_value: [31, 20, 40] },
    })
    await expect(ask(disk.wipe, { device: '--all' })).rejects.toThrow('begins with a dash')
  })

  test('iostat averages reports (recorded)', () => {
    const report = (idle: number) =>
      `avg-cpu:  %user %idle\n  1.00 ${idle}\n\nDevice r/s w/s\nvda 2.00 ${idle}\n\n`
    expect(averageReports(report(90) + report(80))).toEqual({
      sys: { '%user': new Number(1), '%idle': new Number(85) },
      vda: { 'r/s': new Number(2), 'w/s': new Number(85) },
    })
  })
})

describe('kmod', () => {
  test('lists modules and what uses them (recorded)', () => {
    expect(readModules('nf_nat 49152 2 xt_MASQ,nft, Live 0x0\nloop 4096 0 - Live 0x0\n')).toEqual([
      { size: '49152', module: 'nf_nat', depcount: '2', deps: ['xt_MASQ', 'nft'] },
      { size: '4096', module: 'loop', depcount: '0', deps: [] },
    ])
  })

  test('a failure of modprobe is a text (stub)', async () => {
    await stubPrograms(folder, { modprobe: 'echo "no such module" >&2; exit 1' })
    expect(await ask(kmod.load, { mod: 'none' })).toBe('Error loading module none: no such module')
    await expect(ask(kmod.load, { mod: 'loop -C /tmp/evil.conf' })).rejects.toThrow('is not the name of')
    await expect(ask(kmod.load, { mod: '-r loop' })).rejects.toThrow('is not the name of a module')
  })
})

describe('environ', () => {
  test('reads the environment', async () => {
    vi.stubEnv('SALT_TS_TEST', 'yes')
    expect(await ask(environ.get, { key: 'SALT_TS_TEST' })).toBe('yes')
    expect(await ask(environ.get, { key: 'SALT_TS_NONE', default: 'no' })).toBe('no')
    expect(await ask(environ.has_value, { key: 'SALT_TS_TEST', value: 'no' })).toBe(false)
    expect(await ask(environ.item, { keys: ['SALT_TS_TEST', 'SALT_TS_NONE'] })).toEqual({
      SALT_TS_TEST: 'yes',
      SALT_TS_NONE: '',
    })
    expect(await ask(environ.items)).toHaveProperty('SALT_TS_TEST', 'yes')
  })
})

describe('locale', () => {
  test('avail compares without regard to how the character set is written (recorded)', async () => {
    await stubPrograms(folder, { locale: `printf 'C\\nen_US.utf8\\n'` })
    expect(await ask(locale.list_avail)).toEqual(['C', 'en_US.utf8'])
    expect(await ask(locale.avail, { locale: 'en_us.UTF-8 UTF-8' })).toBe(true)
    expect(await ask(locale.avail, { locale: 'de_DE' })).toBe(false)
  })

  test('set_locale writes the file of the system where systemd does not run', async () => {
    const file = join(folder, 'locale')
    await writeFile(file, '# ours\nLANG=C\n')
    const context = hostContext()
    await stubPrograms(folder, { 'update-locale': 'exit 0' })
    await setLocaleInFile('de_DE.UTF-8', context, file)
    expect(await readFile(file, 'utf8')).toBe('# ours\nLANG="de_DE.UTF-8"\n')
    await writeFile(file, '# ours')
    await setLocaleInFile('POSIX', context, file)
    expect(await readFile(file, 'utf8')).toBe('# ours\nLANG="POSIX"\n')
  })

  test('the settings of localectl are read (recorded)', () => {
    const text = '   System Locale: LANG=de_DE.UTF-8\n                  LC_TIME=C\n       VC Keymap: n/a\n'
    expect([...readLocale(text)]).toEqual([
      ['LANG', 'de_DE.UTF-8'],
      ['LC_TIME', 'C'],
    ])
  })
})
