import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { compareApkVersions } from '../../../modules/_apk/version.ts'
import * as pkg from '../../../modules/apkpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-apk-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

/** A stand-in for apk that prints what apk-tools 2 prints. A text that begins with `!` fails. */
function apk(answers: Readonly<Record<string, string>>): Promise<void> {
  const cases = Object.entries(answers).map(([words, text]) =>
    text.startsWith('!')
      ? `'${words}'*) cat >&2 <<'END'\n${text.slice(1)}\nEND\nexit 1;;`
      : `'${words}'*) cat <<'END'\n${text}\nEND\n;;`,
  )
  const script = `echo "$*" >> ${join(folder, 'log')}\ncase "$*" in\n${cases.join('\n')}\nesac`
  return stubProgram(join(folder, 'bin'), 'apk', script)
}
const runs = () => linesOf(join(folder, 'log'))
const ask = (fn: AnyFn, given: Record<string, unknown> = {}) => call(fn, given, fakeContext())

const INSTALLED = 'WARNING: opening /var/cache/apk: No such file\nmusl-1.2.4-r2\npy3-pip-23.1.2-r0'
const UPGRADES = '(1/1) Upgrading musl (1.2.4-r2 -> 1.2.4-r3)\nOK: 10 MiB in 15 packages'

test('apkpkg lists installed and newer packages (a stand-in for apk)', SLOW, async () => {
  await apk({
    'info -v': INSTALLED,
    'upgrade -s': UPGRADES,
    'search --exact vim': 'vim-9.0.1-r0\nvim-9.0.10-r0',
    'search --exact py3-pip': 'py3-pip-23.1.2-r0',
  })
  expect(await ask(pkg.list_pkgs)).toEqual({ musl: '1.2.4-r2', 'py3-pip': '23.1.2-r0' })
  expect(await ask(pkg.list_upgrades)).toEqual({ musl: '1.2.4-r3' })
  expect(await ask(pkg.latest_version, { names: ['musl', 'py3-pip', 'vim', 'none'] })).toEqual({
    musl: '1.2.4-r3',
    'py3-pip': '',
    vim: '9.0.10-r0',
    none: '',
  })
  expect(await runs()).toContain('update')
})

test('apkpkg installs, upgrades and removes with the right commands (a stand-in for apk)', SLOW, async () => {
  await apk({ 'info -v': INSTALLED })
  await ask(pkg.install, { name: 'vim,nano' })
  await ask(pkg.install, { pkgs: ['musl', { vim: '9.0-r0' }, { nano: '>=7' }], refresh: true })
  await ask(pkg.install, { sources: [{ x: '/srv/x.apk' }] })
  await ask(pkg.remove, { pkgs: ['vim'] })
  await ask(pkg.purge, { name: 'vim' })
  await ask(pkg.upgrade, { name: 'musl', refresh: false })
  expect((await runs()).filter((line) => !line.startsWith('info'))).toEqual([
    'add vim nano',
    'update',
    'add -u musl vim=9.0-r0 nano>=7',
    'add /srv/x.apk',
    'del vim',
    'del --purge vim',
    'add -u musl',
  ])
  await expect(ask(pkg.install, { name: 'vim', version: '1 --root /' })).rejects.toThrow('is no version')
})

test('apkpkg reports errors of apk (a stand-in for apk)', async () => {
  await apk({
    'info -v': INSTALLED,
    add: '!ERROR: unable to select packages:\n  none (no such package)',
    update: '!ERROR: http://x: temporary error',
    upgrade: '!ERROR: 1 error',
  })
  await expect(ask(pkg.install, { name: 'none' })).rejects.toThrow('none (no such package)')
  await expect(ask(pkg.refresh_db)).rejects.toThrow('temporary error')
  expect(await ask(pkg.upgrade, { refresh: false })).toEqual({
    changes: {},
    result: false,
    comment: 'ERROR: 1 error',
  })
})

test('apkpkg lists files and their owners (a stand-in for apk)', async () => {
  await apk({
    'info -L vim': 'vim-9.0-r0 contains:\nusr/bin/vim\nusr/bin/xxd\n',
    'info -W /bin/ls': '/bin/ls is owned by busybox-1.36.1-r5',
    'info -W': '!ERROR: /none: Could not find owner package',
  })
  expect(await ask(pkg.file_dict, { packages: ['vim', 'none'] })).toEqual({
    errors: [],
    packages: { vim: ['usr/bin/vim', 'usr/bin/xxd'] },
  })
  expect(await ask(pkg.file_list)).toBe('Package name should be provided')
  expect(await ask(pkg.owner, { paths: ['/bin/ls', '/none'] })).toEqual({
    '/bin/ls': 'busybox-1.36.1-r5',
    '/none': 'Could not find owner package',
  })
})

test('apkpkg accepts no option as a name', async () => {
  await apk({})
  await expect(ask(pkg.install, { name: '--root=/tmp' })).rejects.toThrow('option')
  await expect(ask(pkg.file_dict, { packages: ['-v'] })).rejects.toThrow('option')
})

test.each([
  ['1.2.3-r0', '1.2.10-r0', -1],
  ['1.0_rc1', '1.0', -1],
  ['1.0_alpha2', '1.0_beta1', -1],
  ['1.0_p1', '1.0', 1],
  ['1.0b', '1.0a', 1],
  ['1.0-r1', '1.0-r10', -1],
  ['1.0', '1.0.0', -1],
  ['1.05', '1.1', -1],
  ['1.0_git20240101', '1.0', 1],
  ['2.0', '2.0', 0],
])('apkpkg compares %s with %s by the rules of apk', (a, b, order) => {
  expect(compareApkVersions(a, b)).toBe(order)
})
