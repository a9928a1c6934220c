import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as pkg from '../../../modules/yumpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let folder: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-yum-')
  await mkdir(join(folder, 'bin'))
  vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env.PATH}`)
  await installed(
    'bash_|-0_|-5.1.8_|-9.el9_|-x86_64_|-1700000000',
    'glibc_|-0_|-2.34_|-1.el9_|-i686_|-1700000000',
    'vim_|-2_|-8.2_|-20.el9_|-x86_64_|-1700000000',
  )
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

async function program(name: string, lines: string): Promise<void> {
  const path = join(folder, 'bin', name)
  await writeFile(path, `#!/bin/sh\necho "$*" >> ${join(folder, `${name}.log`)}\n${lines}\n`)
  await chmod(path, 0o755)
}
const runs = async (name: string) => (await readFile(join(folder, `${name}.log`), 'utf8')).trim().split('\n')
const installed = (...lines: string[]) => program('rpm', `cat <<'END'\n${lines.join('\n')}\nEND`)
const ask = (fn: AnyFn, given: Record<string, unknown> = {}) =>
  call(fn, given, fakeContext({ grains: { os_family: 'RedHat', osarch: 'x86_64' } }))

const AVAILABLE = `Last metadata expiration check: 0:10:00 ago on Mon 01 Jan 2024.
Available Packages
bash.x86_64            5.1.8-10.el9         baseos
vim.x86_64             2:8.2-20.el9         appstream
`

test('lists installed packages, with epoch and foreign architecture (a stand-in for dnf)', async () => {
  expect(await ask(pkg.list_pkgs)).toEqual({
    bash: '5.1.8-9.el9',
    'glibc.i686': '2.34-1.el9',
    vim: '2:8.2-20.el9',
  })
  expect(await ask(pkg.version, { names: ['vim'] })).toBe('2:8.2-20.el9')
})

test('finds later versions (a stand-in for dnf)', async () => {
  await program('dnf', `cat <<'END'\n${AVAILABLE}END`)
  expect(await ask(pkg.latest_version, { names: ['bash', 'vim'] })).toEqual({ bash: '5.1.8-10.el9', vim: '' })
  expect(await ask(pkg.list_upgrades, { refresh: false })).toMatchObject({ bash: '5.1.8-10.el9' })
})

test('installs, downgrades and removes with the right commands (a stand-in for dnf)', async () => {
  await program('dnf', '')
  await ask(pkg.install, { pkgs: ['nano', { bash: '5.0-1' }], fromrepo: 'epel' })
  await ask(pkg.remove, { name: 'vim,none' })
  expect(await runs('dnf')).toEqual([
    '-y --disablerepo=* --enablerepo=epel install nano',
    '-y --disablerepo=* --enablerepo=epel downgrade bash-5.0-1',
    '-y remove vim',
  ])
})

test('reports errors with the changes, and what a refresh found (a stand-in for dnf)', async () => {
  await program('dnf', 'echo "Error: Unable to find a match: none" >&2; exit 1')
  await expect(ask(pkg.install, { name: 'none' })).rejects.toThrow('Unable to find a match: none')
  expect(await ask(pkg.refresh_db)).toBe(false)
  await program('dnf', 'case "$*" in *check-update*) exit 100;; esac')
  expect(await ask(pkg.refresh_db)).toBe(true)
})

test.each([
  ['1.0~rc1-1', '1.0-1', -1],
  ['1:1-1', '2-1', 1],
  ['1.0^git1', '1.0', 1],
  ['1.10', '1.9', 1],
  ['1.0', '1.0-3', 0],
  ['1.a', '1.1', -1],
])('compares %s with %s as rpm does', async (pkg1, pkg2, order) => {
  expect(await ask(pkg.version_cmp, { pkg1, pkg2 })).toBe(order)
})
