import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from 'salt-ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { waitingForLock } from '../../../modules/_pkg/lock.ts'
import * as pkg from '../../../modules/aptpkg.ts'
import * as lowpkg from '../../../modules/dpkg_lowpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { commandContext } from './commands.ts'
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

test('aptpkg lists the package files that were downloaded, by name and version', {
  ...needs(program('dpkg-deb')),
  ...SLOW,
}, async () => {
  const cache = join(folder, 'var', 'cache', 'apt')
  await mkdir(cache, { recursive: true })
  for (const name of ['a', 'b']) {
    const source = join(folder, name)
    await mkdir(join(source, 'DEBIAN'), { recursive: true, mode: 0o755 })
    const control = entry(name, '1.0').replace(/^Status.*\n/m, '')
    await writeFile(join(source, 'DEBIAN', 'control'), control)
    execFileSync('dpkg-deb', ['--root-owner-group', '-b', source, join(cache, `${name}.deb`)], {
      stdio: 'ignore',
    })
  }
  expect(await ask(pkg.list_downloaded, { root: folder })).toMatchObject({
    a: { '1.0': { path: join(cache, 'a.deb') } },
    b: { '1.0': { path: join(cache, 'b.deb') } },
  })
})

describe('Reading the database of dpkg', () => {
  test('lists installed and removed packages, foreign ones with their architecture', SLOW, async () => {
    expect(await ask(pkg.list_pkgs)).toEqual({ shop: '1.0', tool: '2:3.1-1', 'old:i386': '1' })
    expect(await ask(pkg.list_pkgs, { removed: true })).toEqual({ gone: '5' })
    expect(await ask(pkg.list_pkgs, { versions_as_list: true })).toMatchObject({ shop: ['1.0'] })
    expect(await ask(lowpkg.list_pkgs, { packages: ['shop'] })).toEqual({ shop: '1.0' })
  })

  test('returns a version as text, and a map for several names and globs', async () => {
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

  test('holds and unholds packages', SLOW, async () => {
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

  test('reports errors of apt together with the changes', async () => {
    await stub('apt-get', 'echo "E: Unable to locate package none" >&2; exit 100')
    await expect(ask(pkg.install, { name: 'none' })).rejects.toThrow(
      'Problem encountered installing package(s). Additional info follows:\n\nchanges:\n    ----------\nerrors:\n    - E: Unable to locate package none',
    )
  })

  test('removes only installed packages, and purges configuration too', async () => {
    const runs = await stub('apt-get')
    expect(await ask(pkg.remove, { name: 'none,gone' })).toEqual({})
    expect(await ask(pkg.purge, { name: 'none,gone' })).toEqual({ removed: {}, installed: {} })
    expect(await runs()).toEqual(['-o DPkg::Lock::Timeout=300 -q -y purge gone'])
  })

  test('reads the changes of an update', async () => {
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

test('aptpkg waits for a lock, and reports that it is not released', async () => {
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
])('aptpkg compares %s with %s as dpkg does', async (pkg1, pkg2, order) => {
  expect(await ask(pkg.version_cmp, { pkg1, pkg2 })).toBe(order)
})

describe('Repositories', () => {
  const line = 'deb [arch=amd64] https://deb.example.com/ stable main extra'

  test('are added, changed, found and removed', async () => {
    await ask(pkg.mod_repo, { repo: line, file: 'shop.list', refresh: false })
    const file = join(folder, 'parts', 'shop.list')
    expect(await readFile(file, 'utf8')).toBe(`${line}\n`)
    const changes = { comps: 'main', comments: 'note', disabled: true }
    expect(await ask(pkg.mod_repo, { repo: line, ...changes, refresh: false })).toMatchObject({
      [line]: { line: `${line}\n`, comps: ['main'], disabled: true },
    })
    expect(await readFile(file, 'utf8')).toBe(
      '# deb [arch=amd64] https://deb.example.com/ stable main #note\n',
    )
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

  describe('of the deb822 format', () => {
    const file = () => join(folder, 'parts', 'a.sources')
    const content = () => readFile(file(), 'utf8')
    const A =
      '# Ours\nTypes: deb\n# note\nURIs: http://a\nSuites: x y\nComponents: main\n contrib\n# key\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n'
    beforeEach(() => writeFile(file(), `# The header\n\n${A}\nTypes: deb\nURIs: http://b\nSuites: s/\n`))

    test('are listed by type, URI and suite', async () => {
      const repos = (await ask(pkg.list_repos)) as Record<string, { dist: string }[]>
      expect(repos['http://a']?.map(({ dist }) => dist)).toEqual(['x', 'y'])
    })

    test('are changed, each without the others of its stanza', async () => {
      const repo = 'deb http://a x main'
      const changed = await ask(pkg.mod_repo, {
        repo,
        disabled: true,
        architectures: 'amd64,arm64',
        refresh: false,
      })
      expect(changed).toMatchObject({
        [repo]: { file: file(), comps: ['main'], disabled: true, architectures: ['amd64', 'arm64'] },
      })
      const own =
        '# Ours\nTypes: deb\n# note\nURIs: http://a\nSuites: x\nComponents: main\n# key\nSigned-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\nArchitectures: amd64 arm64\nEnabled: no\n'
      const rest = A.replace('x y', 'y')
      expect(await content()).toBe(
        `# The header\n\n${own}\n${rest}\nTypes: deb\nURIs: http://b\nSuites: s/\n`,
      )
      await ask(pkg.mod_repo, { repo: 'deb http://b s/', enabled: false, refresh: false })
      await ask(pkg.mod_repo, { repo: 'deb [trusted=yes] http://b s/', enabled: true, refresh: false })
      expect(await content()).toMatch(/URIs: http:\/\/b\nSuites: s\/\nTrusted: yes\n$/)
    })

    test('are removed, with the file if it has no other', async () => {
      const remove = (repo: string) => ask(pkg.del_repo, { repo, refresh: false })
      expect(await remove('deb http://a x main')).toBe(
        `Repo 'deb http://a x main' has been removed from ${file()}.\n`,
      )
      expect(await content()).toContain('Suites: x\nComponents: contrib\n# key')
      expect(await content()).toContain('Suites: y\nComponents: main\n contrib\n')
      await remove('deb http://a x contrib')
      await remove('deb http://b s/')
      expect(await content()).toBe(`# The header\n\n${A.replace('x y', 'y')}`)
      expect(await remove('deb http://a y main contrib')).toBe(
        `File ${file()} containing repo 'deb http://a y main contrib' has been removed.`,
      )
      await expect(content()).rejects.toThrow('ENOENT')
      await expect(remove('deb http://a y main')).rejects.toThrow("doesn't exist in the sources.list(s)")
    })

    test('are added to a file of that format, which apt can read', async () => {
      const repo =
        'deb [arch=amd64 signed-by=/etc/apt/keyrings/shop.gpg] https://deb.example.com stable main extra'
      await ask(pkg.mod_repo, { repo, file: 'shop.sources', comments: 'The shop', refresh: false })
      expect(await readFile(join(folder, 'parts/shop.sources'), 'utf8')).toBe(
        '# The shop\nTypes: deb\nURIs: https://deb.example.com\nSuites: stable\nArchitectures: amd64\nSigned-By: /etc/apt/keyrings/shop.gpg\nComponents: main extra\n',
      )
      expect(await ask(pkg.get_repo, { repo: 'deb https://deb.example.com stable extra' })).toMatchObject({
        file: join(folder, 'parts/shop.sources'),
        signedby: '/etc/apt/keyrings/shop.gpg',
      })
      const uris = execFileSync('apt-get', ['update', '--print-uris'], { encoding: 'utf8' })
      for (const uri of ['https://deb.example.com/dists/stable', 'http://a/dists/x', 'http://b/s'])
        expect(uris).toContain(`'${uri}/InRelease'`)
    })
  })

  test('need a whole definition, and a file for their key', async () => {
    expect(await ask(pkg.get_repo, { repo: 'nonsense' })).toEqual({})
    await expect(ask(pkg.del_repo, { repo: 'nonsense' })).rejects.toThrow(
      "Repo nonsense doesn't exist in the sources.list(s)",
    )
    await expect(ask(pkg.mod_repo, { repo: 'nonsense' })).rejects.toThrow('Name nonsense is not valid')
    await expect(ask(pkg.mod_repo, { repo: line, key_text: 'x' })).rejects.toThrow("missing 'signedby'")
  })
})

describe('Keys of repositories', () => {
  const KEYID = '1234567890ABCDEF'
  const LISTED = `tru::1:1700000000:0:3:1:5
pub:-:4096:1:${KEYID}:1700000000:::-:::scSC::::::23::0:
fpr:::::::::00000000000000000000${'1111'}${KEYID}:
uid:-::::1700000000::ABCDEF::Shop <shop@example.com>::::::::::0:
sub:-:4096:1:FEDCBA0987654321:1700000000::::::e::::::23:
fpr:::::::::0000000000000000000022222FEDCBA09876:`
  const folders = () => ({ aptkey: false, keydir: join(folder, 'parts') })

  test('are listed, added and removed by apt-key', async () => {
    const runs = await stub(
      'apt-key',
      `case "$*" in *--list*) cat <<'END'\n${LISTED}\nEND\n;; 'add -') cat > ${folder}/added;; *0BAD*) echo 'no such key' >&2; exit 2;; esac`,
    )
    expect(await ask(pkg.get_repo_keys)).toEqual({
      [KEYID]: {
        algorithm: 1,
        bits: 4096,
        capability: 'scSC',
        date_creation: 1700000000,
        date_expiration: null,
        keyid: KEYID,
        validity: '-',
        uid: 'Shop <shop@example.com>',
        uid_hash: 'ABCDEF',
        fingerprint: `000000000000000000001111${KEYID}`,
        subkey: expect.objectContaining({ keyid: 'FEDCBA0987654321', capability: 'e' }),
      },
    })
    expect(await ask(pkg.add_repo_key, { text: 'the key' })).toBe(true)
    expect(await readFile(join(folder, 'added'), 'utf8')).toBe('the key')
    expect(await ask(pkg.add_repo_key, { keyserver: 'ks.example', keyid: '0000AAAA' })).toBe(true)
    expect(await ask(pkg.add_repo_key, { keyserver: 'ks.example', keyid: '90ABCDEF' })).toBe(true)
    expect(await ask(pkg.del_repo_key, { keyid: '90ABCDEF' })).toBe('90ABCDEF')
    await expect(ask(pkg.del_repo_key, { keyid: '0BAD' })).rejects.toThrow(
      'Failed to remove keyid 0BAD: no such key',
    )
    const changes = (await runs()).filter((words) => !words.includes('--list'))
    expect(changes).toEqual([
      'add -',
      'adv --batch --keyserver ks.example --recv 0000AAAA',
      'del 90ABCDEF',
      'del 0BAD',
    ])
  })

  test('are files of a folder, which gpg reads', needs(program('gpg')), async () => {
    vi.stubEnv('GNUPGHOME', join(folder, 'gnupg'))
    const path = new URL('../../fixtures/apt-key.asc', import.meta.url).pathname
    const files = { 'cp.cache_file': ({ path }: Record<string, unknown>) => path }
    const of = () => commandContext(files, { grains })
    const add = (keyfile: string) => ask(pkg.add_repo_key, { path, keyfile, ...folders() }, of())
    expect(await add('shop.gpg')).toBe(true)
    expect(await add('shop.asc')).toBe(true)
    const keys = (await ask(pkg.get_repo_keys, folders())) as Record<string, { uid: string }>
    const [[id = '', key] = []] = Object.entries(keys)
    expect(key?.uid).toBe('Shop <shop@example.com>')
    expect((await readFile(join(folder, 'parts/shop.gpg')))[0]).toBe(0x98)
    expect(await readFile(join(folder, 'parts/shop.asc'), 'utf8')).toContain('BEGIN PGP')
    const remove = (keyid: string) => ask(pkg.del_repo_key, { keyid, ...folders() }, context())
    expect(await remove(id.slice(-8))).toBe(id.slice(-8))
    expect(await remove(id)).toBe(id)
    expect(await remove(id)).toBe(false)
    expect(await remove('ABC')).toBe(false)
  })

  test('come from a key server in a form that apt reads', async () => {
    const runs = await stub('gpg')
    const given = { keyserver: 'ks.example', keyid: '0000AAAA', ...folders() }
    expect(await ask(pkg.add_repo_key, { ...given, keyfile: 'shop.gpg' })).toBe(true)
    expect(await runs()).toEqual([
      `--batch --no-default-keyring --keyring gnupg-ring:${folder}/parts/shop.gpg --keyserver ks.example --recv-keys 0000AAAA`,
    ])
    const of = context()
    expect(await ask(pkg.add_repo_key, given, of)).toBe(false)
    expect(of.retcode).toBe(1)
    expect(await ask(pkg.get_repo_keys, { aptkey: false, keydir: '/none' })).toBe(false)
  })

  test('of PPAs are fetched from Launchpad', async () => {
    const runs = await stub('apt-key')
    const answer = { dict: { signing_key_fingerprint: `0000${KEYID}` } }
    const urls: unknown[] = []
    const of = commandContext({ 'http.query': ({ url }) => urls.push(url) && answer }, { grains })
    expect(await ask(pkg.del_repo_key, { name: 'ppa:foo/bar', keyid_ppa: true }, of)).toBe('90ABCDEF')
    expect(urls).toEqual(['https://launchpad.net/api/1.0/~foo/+archive/bar'])
    expect(await runs()).toEqual(['del 90ABCDEF'])
  })

  test.each([
    [pkg.add_repo_key, {}, 'takes at least 1 argument (0 given)'],
    [pkg.add_repo_key, { keyid: 'AAAA' }, 'No keyserver specified for keyid: AAAA'],
    [pkg.add_repo_key, { keyserver: 'x' }, 'No keyid or keyid too short for keyserver: x'],
    [pkg.add_repo_key, { keyserver: 'x', keyid: '--foo' }, "'--foo' is no id of a key"],
    [pkg.add_repo_key, { keyserver: '--x', keyid: 'AAAA' }, "'--x' would be an option"],
    [pkg.del_repo_key, { keyid: '-y' }, "'-y' is no id of a key"],
    [pkg.del_repo_key, {}, 'keyid or keyid_ppa and PPA name must be passed'],
    [pkg.del_repo_key, { name: 'x', keyid_ppa: true }, 'keyid_ppa requires that a PPA be passed'],
  ])('need an argument that identifies the key (%#)', async (fn, given, reason) => {
    await stub('apt-key')
    await expect(ask(fn, given)).rejects.toThrow(reason)
  })
})

describe('What would be an option or another line is refused', () => {
  const option = `-oDir::Cache::pkgcache=x`
  test.each([
    [pkg.install, { name: option }],
    [pkg.install, { pkgs: ['shop', option] }],
    [pkg.remove, { name: option }],
    [pkg.latest_version, { names: [option], refresh: false }],
    [pkg.show, { names: [option] }],
    [pkg.list_repo_pkgs, { args: [option] }],
    [pkg.info_installed, { names: ['--load-avail'] }],
    [pkg.file_list, { packages: ['--admindir=x'] }],
    [pkg.get_selections, { pattern: '--admindir=x' }],
    [pkg.hold, { name: 'shop hold\ntool' }],
    [pkg.set_selections, { selection: { hold: ['shop hold\ntool purge'] } }],
    [lowpkg.unpurge, { packages: ['shop purge\ntool'] }],
  ])('as the name of a package (case %#)', async (fn, given) => {
    await expect(ask(fn as AnyFn, given)).rejects.toThrow('is not the name of a package')
  })

  test('as a part of a repository, and as the file of its key', async () => {
    const change = (more: object) =>
      ask(pkg.mod_repo, { repo: 'deb http://example.com/d stable main', refresh: false, ...more })
    const evil = 'main\ndeb [trusted=yes] http://evil ./'
    for (const name of ['comps', 'comments', 'architectures'])
      await expect(change({ [name]: evil })).rejects.toThrow(`${name} must not have a line break`)
    const repo = `deb [signed-by=${folder}/authorized_keys] http://example.com/d stable main`
    await expect(change({ repo, key_text: 'ssh-rsa AAAA evil' })).rejects.toThrow('is not a file of keys')
    await expect(readFile(join(folder, 'authorized_keys'))).rejects.toThrow('ENOENT')
  })
})
