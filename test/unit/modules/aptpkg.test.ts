import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { waitingForLock } from '../../../modules/_pkg/lock.ts'
import * as pkg from '../../../modules/aptpkg.ts'
import * as lowpkg from '../../../modules/dpkg_lowpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

const grains = { os: 'Debian', os_family: 'Debian', osarch: 'amd64', cpuarch: 'x86_64' }
let folder: string
let status: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-apt-')
  status = join(folder, 'dpkg', 'status')
  for (const part of ['dpkg/info', 'dpkg/updates', 'parts', 'bin']) {
    await mkdir(join(folder, part), { recursive: true })
  }
  await writeFile(
    join(folder, 'apt.conf'),
    `Dir::Etc::sourcelist "${folder}/sources.list";\nDir::Etc::sourceparts "${folder}/parts";\n`,
  )
  await writeFile(
    status,
    [
      entry('shop', '1.0'),
      entry('tool', '2:3.1-1', 'hold'),
      entry('gone', '5', 'deinstall', 'config-files'),
      entry('old:i386', '1'),
    ].join('\n'),
  )
  vi.stubEnv('DPKG_ADMINDIR', join(folder, 'dpkg'))
  vi.stubEnv('APT_CONFIG', join(folder, 'apt.conf'))
  vi.stubEnv('PATH', `${join(folder, 'bin')}:${process.env.PATH}`)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

function entry(given: string, version: string, want = 'install', state = 'installed'): string {
  const [name, arch = 'amd64'] = given.split(':')
  return `Package: ${name}\nStatus: ${want} ok ${state}\nSection: misc\nMaintainer: Ann <ann@example.com>\nArchitecture: ${arch}\nVersion: ${version}\nDescription: about ${name}\n`
}

/** Put a program in front of the real one. It records its arguments, then runs the lines of shell. */
async function stub(name: string, lines = ''): Promise<() => Promise<string[]>> {
  const path = join(folder, 'bin', name)
  const record = join(folder, `${name}.log`)
  await writeFile(path, `#!/bin/sh\necho "$*" >> ${record}\n${lines}\n`)
  await chmod(path, 0o755)
  return async () => (await readFile(record, 'utf8').catch(() => '')).split('\n').filter(Boolean)
}

const context = (overrides: Partial<Context> = {}) => fakeContext({ grains, ...overrides })
const ask = (fn: AnyFn, given: object = {}, inside = context()) =>
  call(fn, given as Record<string, unknown>, inside)
/** Shell that makes dpkg's database what it is after an installation. */
const sets = (...entries: string[]) => `cat > ${status} <<'END'\n${entries.join('\n')}\nEND`

describe('Reading the database of dpkg', () => {
  test('lists installed and removed packages, foreign ones with their architecture', async () => {
    expect(await ask(pkg.list_pkgs)).toEqual({ shop: '1.0', tool: '2:3.1-1', 'old:i386': '1' })
    expect(await ask(pkg.list_pkgs, { removed: true })).toEqual({ gone: '5' })
    expect(await ask(pkg.list_pkgs, { versions_as_list: true })).toMatchObject({ shop: ['1.0'] })
    expect(await ask(lowpkg.list_pkgs, { packages: ['shop'] })).toEqual({ shop: '1.0' })
  })

  test('gives a version as text, several and globs as a map', async () => {
    expect(await ask(pkg.version, { names: ['shop'] })).toBe('1.0')
    expect(await ask(pkg.version, { names: ['none'] })).toBe('')
    expect(await ask(pkg.version, { names: ['t*'] })).toEqual({ tool: '2:3.1-1' })
    expect(await ask(pkg.version, { names: ['shop', 'none'] })).toEqual({ shop: '1.0', none: '' })
  })

  test('describes packages in the words of all package modules', async () => {
    const info = (await ask(pkg.info_installed, { names: ['shop'] })) as object
    expect(info).toMatchObject({ shop: { name: 'shop', group: 'misc', packager: 'Ann <ann@example.com>' } })
    await expect(ask(pkg.info_installed, { names: ['none'] })).rejects.toThrow(
      'Error getting packages information',
    )
    expect(await ask(pkg.info_installed, { names: ['none'], failhard: false })).toEqual({})
  })

  test('holds packages and lets them go', async () => {
    expect(await ask(pkg.get_selections, { state: 'hold' })).toEqual({ hold: ['tool'] })
    expect(await ask(pkg.hold, { name: 'shop' })).toMatchObject({
      shop: {
        result: true,
        changes: { old: 'install', new: 'hold' },
        comment: 'Package shop is now being held.',
      },
    })
    expect(await ask(pkg.unhold, { pkgs: ['tool', 'none'] })).toMatchObject({
      tool: { result: true, comment: 'Package tool is no longer being held.' },
      none: { result: false, comment: 'Package none does not have a state.' },
    })
    expect(await ask(pkg.get_selections, { state: 'hold' })).toEqual({ hold: ['shop'] })
    await expect(async () => ask(pkg.hold)).rejects.toThrow(
      'One of name, pkgs, or sources must be specified.',
    )
  })
})

describe('Changing packages', () => {
  test('installs unattended, waits for the lock of dpkg, and returns the changes', async () => {
    const runs = await stub('apt-get', sets(entry('shop', '1.0'), entry('vim', '9')))
    expect(await ask(pkg.install, { name: 'vim:amd64', install_recommends: false })).toEqual({
      'old:i386': { old: '1', new: '' },
      tool: { old: '2:3.1-1', new: '' },
      vim: { old: '', new: '9' },
    })
    expect(await runs()).toEqual([
      '-o DPkg::Lock::Timeout=300 -q -y -o DPkg::Options::=--force-confold -o DPkg::Options::=--force-confdef --no-install-recommends install vim',
    ])
  })

  test('sorts packages into upgrades, downgrades and reinstallations', async () => {
    const runs = await stub('apt-get')
    await ask(pkg.install, {
      pkgs: [{ shop: '0.9' }, 'new', { 'old:i386': '1' }],
      reinstall: true,
      downloadonly: true,
    })
    const tails = (await runs()).map((line) => line.slice(line.indexOf('--download-only')))
    expect(tails).toEqual([
      '--download-only install new',
      '--download-only --allow-downgrades install shop=0.9',
      '--download-only --reinstall install old:i386=1',
    ])
  })

  test('reports what apt says together with the changes', async () => {
    await stub('apt-get', 'echo "E: Unable to locate package none" >&2; exit 100')
    await expect(ask(pkg.install, { name: 'none' })).rejects.toThrow(
      'Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - E: Unable to locate package none',
    )
  })

  test('removes only what is installed, and purges configuration too', async () => {
    const runs = await stub('apt-get')
    expect(await ask(pkg.remove, { name: 'none,gone' })).toEqual({})
    expect(await ask(pkg.purge, { name: 'none,gone' })).toEqual({ removed: {}, installed: {} })
    expect(await runs()).toEqual(['-o DPkg::Lock::Timeout=300 -q -y purge gone'])
  })

  test('reads what an update did', async () => {
    await stub(
      'apt-get',
      'echo "Hit:1 http://a x InRelease"; echo "Get:2 http://b y InRelease [48.0 kB]"; echo "Err:3 http://c z"',
    )
    expect(await ask(pkg.refresh_db)).toEqual({
      'http://a x InRelease': null,
      'http://b y InRelease': true,
      'http://c z': false,
    })
    await expect(ask(pkg.refresh_db, { failhard: true })).rejects.toThrow('Error getting repos: http://c z')
  })
})

test('waits for a lock, and says so when it is not released', async () => {
  const locked = { pid: 1, retcode: 100, stdout: '', stderr: 'E: Could not get lock /x' }
  const outcomes = [locked, locked, { ...locked, retcode: 0 }]
  const run = async () => outcomes.shift() ?? locked
  const isLocked = () => true
  const wait = { limitMs: 60_000, pollMs: 1 }
  expect((await waitingForLock(run, isLocked, context(), wait)).retcode).toBe(0)
  await expect(waitingForLock(run, isLocked, context(), { ...wait, limitMs: 0 })).rejects.toThrow(
    /has held the lock .* Could not get lock/,
  )
})

test.each([
  ['1.0~rc1', '1.0', -1],
  ['1:0.1', '2.0', 1],
  ['1.10', '1.9', 1],
  ['1.0-1', '1.0-1', 0],
  ['1.0a', '1.0+', -1],
])('compares %s with %s as dpkg does', async (pkg1, pkg2, order) => {
  expect(await ask(pkg.version_cmp, { pkg1, pkg2 })).toBe(order)
})

describe('Repositories', () => {
  const line = 'deb [arch=amd64] https://deb.example.com/ stable main extra'

  test('are added, changed, found and removed', async () => {
    await ask(pkg.mod_repo, { repo: line, file: 'shop.list', refresh: false })
    const file = join(folder, 'parts', 'shop.list')
    expect(await readFile(file, 'utf8')).toBe(`${line}\n`)
    await ask(pkg.mod_repo, { repo: line, comps: 'main', disabled: true, refresh: false })
    expect(await readFile(file, 'utf8')).toBe('# deb [arch=amd64] https://deb.example.com/ stable main\n')
    expect(await ask(pkg.get_repo, { repo: 'deb https://deb.example.com stable main' })).toMatchObject({
      file,
      disabled: true,
      architectures: ['amd64'],
    })
    expect(await ask(pkg.del_repo, { repo: line, refresh: false })).toBe(
      `File ${file} containing repo '${line}' has been removed.`,
    )
    expect(await ask(pkg.list_repos)).toEqual({})
  })

  test('of the deb822 format are listed, and not changed', async () => {
    await writeFile(
      join(folder, 'parts', 'a.sources'),
      'Types: deb\n# note\nURIs: http://a\nSuites: x y\nComponents: main\n',
    )
    const repos = (await ask(pkg.list_repos)) as Record<string, { dist: string }[]>
    expect(repos['http://a']?.map(({ dist }) => dist)).toEqual(['x', 'y'])
    await expect(ask(pkg.del_repo, { repo: 'deb http://a x main' })).rejects.toThrow('deb822')
  })

  test('need a whole definition, and a file for their key', async () => {
    await expect(ask(pkg.get_repo, { repo: 'nonsense' })).rejects.toThrow('Name nonsense is not valid')
    await expect(ask(pkg.mod_repo, { repo: line, key_text: 'x' })).rejects.toThrow("missing 'signedby'")
  })
})
