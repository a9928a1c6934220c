import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { comparePacmanVersions } from '../../../modules/_pacman/version.ts'
import * as pkg from '../../../modules/pacmanpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-pacman-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

/** A stand-in for pacman: for words that a key is in, it prints what pacman 6.0 printed. A text that begins with `!` fails. */
function recorded(answers: Readonly<Record<string, string>>): Promise<void> {
  const cases = Object.entries(answers).map(([words, text]) =>
    text.startsWith('!')
      ? `*'${words}'*) cat >&2 <<'END'\n${text.slice(1)}\nEND\nexit 1;;`
      : `*'${words}'*) cat <<'END'\n${text}\nEND\n;;`,
  )
  const script = `echo "$*" >> ${join(folder, 'log')}\ncase "$*" in\n${cases.join('\n')}\nesac`
  return stubProgram(join(folder, 'bin'), 'pacman', script)
}
const runs = () => linesOf(join(folder, 'log'))
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, context = fakeContext()) =>
  call(fn, given, context)

test('pacmanpkg lists installed and newer packages (recorded from pacman)', SLOW, async () => {
  const context = fakeContext()
  await recorded({
    'shop nope': '!error: target not found: nope',
    '--needed --print-format %n %v nope': '!error: target not found: nope',
    '--needed': 'shop-lib 2:3.4-5\nshop 2.0-1',
    '-Sup': ' lab downloading...\ndownloading core.db...\nshop-lib 2:3.4-5\nshop 2.0-1',
    '-Q': 'shop 1.0-1\nother 0.1-1',
  })
  expect(await ask(pkg.list_pkgs, {}, context)).toEqual({ shop: '1.0-1', other: '0.1-1' })
  expect(await ask(pkg.version, { names: ['shop', 'none'] }, context)).toEqual({ shop: '1.0-1', none: '' })
  expect(await ask(pkg.latest_version, { names: ['shop'] })).toBe('2.0-1')
  expect(await ask(pkg.latest_version, { names: ['shop', 'nope'] })).toEqual({ shop: '2.0-1', nope: '' })
  expect(await ask(pkg.upgrade_available, { name: 'shop' })).toBe(true)
  expect(await ask(pkg.list_upgrades)).toEqual({ shop: '2.0-1', 'shop-lib': '2:3.4-5' })
})

test('pacmanpkg reports which databases were fetched (as pacman 5 and 6 write it on a terminal, too)', async () => {
  await recorded({
    '-Sy':
      ':: Synchronizing package databases...\n lab downloading...\n core is up to date\ndownloading extra.db...',
  })
  expect(await ask(pkg.refresh_db)).toEqual({ lab: true, core: false, extra: true })
  await recorded({ '-Sy': '!error: failed retrieving file' })
  await expect(ask(pkg.refresh_db)).rejects.toThrow('Error refreshing package database: error: failed')
})

const REPO = 'lab other 0.1-1\nlab shop 1.9-1\nlab shop 1.10-1 [installed: 1.0-1]\nextra shop 1.2-1'

test(
  'pacmanpkg lists packages of the repositories, of which globs select the newest (recorded from pacman)',
  SLOW,
  async () => {
    await recorded({ '-Sl': REPO, '-Q': 'shop 1.0-1' })
    expect(await ask(pkg.list_repo_pkgs, { args: ['sh*'] })).toEqual({ shop: ['1.10-1', '1.9-1', '1.2-1'] })
    expect(await ask(pkg.list_repo_pkgs, { fromrepo: 'extra', byrepo: true })).toEqual({
      extra: { shop: ['1.2-1'] },
    })
    await ask(pkg.install, { name: 'shop', version: '1.*' })
    await ask(pkg.install, { pkgs: ['other', { shop: '>=1.0' }], refresh: true, sysupgrade: true })
    await ask(pkg.install, { sources: [{ x: '/srv/x.pkg.tar.zst' }], root: '/mnt' })
    expect((await runs()).filter((line) => line.includes('--noconfirm'))).toEqual([
      '-S --needed shop=1.10-1 --noprogressbar --noconfirm',
      '-S --needed -y -u other shop>=1.0 --noprogressbar --noconfirm',
      '-U --root /mnt /srv/x.pkg.tar.zst --noprogressbar --noconfirm',
    ])
    await expect(ask(pkg.install, { name: 'shop', version: '9*' })).rejects.toThrow(
      "No version matching '9*' found for package 'shop' (available: 1.10-1, 1.9-1, 1.2-1)",
    )
    await expect(ask(pkg.install, { name: 'shop', version: '>1*' })).rejects.toThrow(
      'Invalid wildcard for shop>1*',
    )
  },
)

test(
  'pacmanpkg removes installed packages, and passes on why it cannot (recorded from pacman)',
  SLOW,
  async () => {
    await recorded({
      '-R ': '!error: failed to prepare transaction (could not satisfy dependencies)',
      '-Q': 'shop 1.0-1',
    })
    await expect(ask(pkg.remove, { pkgs: ['shop', 'none'] })).rejects.toThrow(
      'could not satisfy dependencies',
    )
    expect(await ask(pkg.purge, { name: 'none' })).toEqual({})
    await ask(pkg.purge, { name: 'shop' })
    expect((await runs()).filter((line) => line.startsWith('-R'))).toEqual([
      '-R shop --noprogressbar --noconfirm',
      '-Rsc shop --noprogressbar --noconfirm',
    ])
  },
)

test('pacmanpkg lists groups by their installed packages (recorded from pacman)', async () => {
  await recorded({
    '-Sgg': 'shops shop\nshops shop-lib\ntools shop-lib\nall shop',
    '-Qg': 'shops shop\nall shop\nold x',
    '-Q': 'shop 1.0-1',
  })
  expect(await ask(pkg.group_list)).toEqual({
    installed: ['all'],
    partially_installed: ['shops'],
    available: ['tools'],
  })
  expect(await ask(pkg.group_diff, { name: 'shops' })).toMatchObject({
    default: { installed: ['shop'], 'not installed': ['shop-lib'] },
    mandatory: { installed: [], 'not installed': [] },
  })
})

test('pacmanpkg waits for the lock of the databases until the job is cancelled (recorded from pacman)', async () => {
  const cancel = new AbortController()
  await recorded({ '-Sy': '!error: failed to synchronize all databases (unable to lock database)' })
  const context = fakeContext({ signal: cancel.signal })
  const waiting = ask(pkg.refresh_db, {}, context)
  await until('the lock is waited for', () =>
    context.lines.some(({ message }) => /waiting for it/.test(message)),
  )
  cancel.abort()
  await expect(waiting).rejects.toThrow(/abort/i)
})

test('pacmanpkg accepts no option as a name', async () => {
  await recorded({})
  for (const name of ['--dbpath=/tmp', '-y', 'a\nb'])
    await expect(ask(pkg.install, { name })).rejects.toThrow(/option|line break/)
  await expect(ask(pkg.owner, { paths: ['--help'] })).rejects.toThrow('option')
})

test.each([
  ['1.0', '1.0.1', -1],
  ['1.0rc1', '1.0', -1],
  ['1.0', '1.0.a', -1],
  ['1:0.1', '2', 1],
  ['1.0-1', '1.0', 0],
  ['1.0-1', '1.0-2', -1],
  ['1..0', '1.0', 1],
  ['1.0a', '1.0b', -1],
  ['01.0', '1.0', 0],
])('pacmanpkg compares %s with %s as vercmp does', (a, b, order) => {
  expect(comparePacmanVersions(a, b)).toBe(order)
})
