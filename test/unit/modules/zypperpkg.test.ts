/** With stand-ins of zypper and rpm, whose output is written by hand where a title does not say otherwise. See recorded-programs.test.ts. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import * as pkg from '../../../modules/zypperpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-zypper-')
  await installed(
    'bash_|-0_|-4.4_|-9.14_|-x86_64_|-1700000000',
    'gpg-pubkey_|-0_|-39db7c82_|-5f68629b_|-(none)_|-1700000000',
    'vim_|-2_|-8.2_|-20.1_|-x86_64_|-1700000000',
  )
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

/** A stand-in that logs its words, and whether it was told not to lock. */
const program = (name: string, lines: string) =>
  stubProgram(
    join(folder, 'bin'),
    name,
    `echo "$*\${ZYPP_READONLY_HACK:+ (reading)}" >> ${join(folder, `${name}.log`)}\n${lines}`,
  )
const text = (lines: string): string => `cat <<'END'\n${lines}\nEND`
const runs = () => linesOf(join(folder, 'zypper.log'))
const installed = (...lines: string[]) => program('rpm', text(lines.join('\n')))
const stream = (xml: string): string =>
  `<?xml version='1.0'?>\n<stream>\n<message type="info">Loading repository data...</message>\n${xml}\n</stream>`
const xml = (...parts: string[]) => program('zypper', text(stream(parts.join('\n'))))
const solvable = (attributes: string) => `<solvable ${attributes}/>`
const found = (...solvables: string[]) =>
  `<search-result version="0.0">\n<solvable-list>\n${solvables.map(solvable).join('\n')}\n</solvable-list>\n</search-result>`

const grains = { os_family: 'Suse', osarch: 'x86_64', osrelease_info: [15, 5] }
const context = (pillar: object = {}) => fakeContext({ grains, pillar: { ...pillar } })
const ask = (fn: AnyFn, given: object = {}, of = context()) => call(fn, given as Record<string, unknown>, of)

const N = '--non-interactive'
const READ = `${N} --xmlout --no-refresh`

test('the module is available on hosts of SUSE that have zypper', async () => {
  const virtual = (os_family: string) => pkg.virtual(fakeContext({ grains: { os_family } }) as never)
  expect(await virtual('Debian')).toBe('Module zypper: non SUSE OS not supported by zypper package manager')
  expect(await virtual('Suse')).toBe('Module zypper: zypper package manager not found')
  await program('zypper', '')
  expect(await virtual('Suse')).toBe(true)
})

describe('Installed', () => {
  test('packages are listed, without the keys of signatures', async () => {
    expect(await ask(pkg.list_pkgs)).toEqual({ bash: '4.4-9.14', vim: '2:8.2-20.1' })
    expect(await ask(pkg.list_pkgs, { attr: 'arch' })).toMatchObject({
      vim: [{ version: '8.2', arch: 'x86_64' }],
    })
    expect(await ask(pkg.list_pkgs, { versions_as_list: true })).toMatchObject({ bash: ['4.4-9.14'] })
    expect(await ask(pkg.version, { names: ['vim'] })).toBe('2:8.2-20.1')
    expect(await ask(pkg.version, { names: ['none'] })).toEqual({})
    expect(await ask(pkg.list_pkgs, { root: '/srv', removed: true })).toEqual({})
  })

  test('products are listed, with their end of life', async () => {
    await xml(
      `<product-list>
<product name="SLES" version="15.5" release="0" epoch="0" arch="x86_64" vendor="SUSE" summary="SUSE Linux Enterprise Server 15 SP5" repo="@System" productline="sles" registerrelease="" shortname="SLES15-SP5" flavor="" isbase="true" installed="1"><endoflife time_t="1735603200" text="2024-12-31T01:00:00+01"/><registerflavor/><description>SUSE Linux Enterprise &amp; more.
   It is a server.</description></product>
</product-list>`,
    )
    await mkdir(join(folder, 'root/var/lib/suseRegister/OEM'), { recursive: true })
    await writeFile(join(folder, 'root/var/lib/suseRegister/OEM/sles'), 'OEM-1\nx')
    expect(await ask(pkg.list_products, { root: join(folder, 'root') })).toEqual([
      {
        name: 'SLES',
        version: '15.5',
        release: 'OEM-1',
        epoch: '0',
        arch: 'x86_64',
        vendor: 'SUSE',
        summary: 'SUSE Linux Enterprise Server 15 SP5',
        repo: '@System',
        productline: 'sles',
        shortname: 'SLES15-SP5',
        isbase: true,
        installed: true,
        eol: '2024-12-31T01:00:00+01',
        eol_t: 1735603200,
        description: 'SUSE Linux Enterprise & more. It is a server.',
      },
    ])
    expect(await ask(pkg.list_pkgs, { includes: ['product'] })).toMatchObject({ 'product:SLES': '0:15.5-0' })
    expect((await runs())[1]).toBe(`${READ} --disable-repositories products -i (reading)`)
  })

  test('patterns are those that zypper shows, and hidden ones that packages provide', SLOW, async () => {
    await xml(
      found(
        'status="installed" name="base" summary="Base System" kind="pattern"',
        'status="not-installed" name="kde" summary="KDE" kind="pattern"',
      ),
    )
    await program('rpm', text('pattern() = base\npattern() = .alias\npattern() = hidden\nconfig(x) = 1'))
    const base = { installed: true, summary: 'Base System' }
    expect(await ask(pkg.list_patterns)).toEqual({ base, kde: { installed: false, summary: 'KDE' } })
    expect(await ask(pkg.list_installed_patterns)).toEqual({
      base,
      hidden: { installed: true, summary: 'Non-visible pattern' },
    })
    expect(await ask(pkg.list_installed_patches)).toEqual({ base })
  })

  test('capabilities are listed with their packages, and services that use old files', async () => {
    await program('rpm', text('/bin/sh_|-bash\nbash_|-bash\neditor_|-vim\neditor_|-nano'))
    expect(await ask(pkg.list_provides)).toEqual({ '/bin/sh': ['bash'], editor: ['vim', 'nano'] })
    await program('zypper', 'echo; echo cron; echo sshd')
    expect(await ask(pkg.services_need_restart)).toEqual(['cron', 'sshd'])
  })
})

describe('Repositories', () => {
  test('are refreshed, by force unless the pillar says otherwise', async () => {
    const output = `Retrieving repository 'Main' metadata [.done]
Building repository 'Main' cache [....done]
Repository 'Updates' is up to date.
All repositories have been refreshed.`
    await program('zypper', text(output))
    expect(await ask(pkg.refresh_db)).toEqual({ Main: true, Updates: false })
    await ask(pkg.refresh_db, {}, context({ zypper: { refreshdb_force: false } }))
    await ask(pkg.refresh_db, { force: false, root: '/srv' })
    expect(await runs()).toEqual([`${N} refresh --force`, `${N} refresh`, `${N} --root /srv refresh`])
  })

  test('are searched for available and upgradable packages', SLOW, async () => {
    const info = `Information for package vim:
---------------------------
Repository     : Main
Name           : vim
Version        : 9.0-1.1
Installed      : Yes
Status         : out-of-date (version 8.2-20.1 installed)
Summary        : Vi IMproved
Description    :
    A text editor.


Information for package nano:
----------------------------
Name           : nano
Version        : 7.2-1.1
Installed      : No
Status         : not installed

Information for package bash:
----------------------------
Name           : bash
Version        : 4.4-9.14
Installed      : Yes (automatically)
Status         : up-to-date`
    await program('zypper', text(info))
    expect(await ask(pkg.info_available, { names: ['vim'], refresh: false })).toMatchObject({
      vim: { repository: 'Main', version: '9.0-1.1', installed: true, summary: 'Vi IMproved' },
      nano: { installed: false },
    })
    const given = { names: ['vim', 'nano', 'bash', 'none'], refresh: false }
    const latest = { bash: '', nano: '7.2-1.1', none: '', vim: '9.0-1.1' }
    expect(await ask(pkg.latest_version, given)).toEqual(latest)
    expect(await ask(pkg.latest_version, { names: ['vim'], refresh: false })).toBe('9.0-1.1')
    expect(await ask(pkg.upgrade_available, { name: 'bash', refresh: false })).toBe(false)
    await xml(
      '<update-status version="0.6">\n<update-list>',
      '<update kind="package" name="vim" edition="9.0-1.1" arch="x86_64" edition-old="8.2-20.1"><summary>Vi IMproved</summary><source url="https://x" alias="m"/></update>',
      '<update kind="patch" name="SUSE-1" edition="1"/>\n</update-list>\n</update-status>',
    )
    expect(await ask(pkg.list_upgrades, { refresh: false, fromrepo: 'a' })).toEqual({ vim: '9.0-1.1' })
    expect((await runs()).at(-1)).toBe(`${READ} list-updates --repo a (reading)`)
  })

  test('list the versions of packages, the newest first', async () => {
    const vim = (edition: string, repository: string) =>
      `status="other-version" name="vim" kind="package" edition="${edition}" arch="x86_64" repository="${repository}"`
    await xml(
      found(
        vim('9.0-1.1', 'Main'),
        vim('9.0-1.10', 'Main'),
        vim('9.1-1.1', 'Updates'),
        'name="vimx" kind="package" edition="1" repository="Main"',
      ),
    )
    const names = { args: ['vim'] }
    expect(await ask(pkg.list_repo_pkgs, names)).toEqual({ vim: ['9.1-1.1', '9.0-1.10', '9.0-1.1'] })
    expect(await ask(pkg.list_repo_pkgs, { ...names, byrepo: true, fromrepo: 'Main' })).toEqual({
      Main: { vim: ['9.0-1.10', '9.0-1.1'] },
    })
  })

  test('are searched, also for what packages provide', SLOW, async () => {
    await xml(found('status="installed" name="w3m" summary="A &quot;text&quot; browser" kind="package"'))
    const options = { criteria: 'w3m', match: 'exact', file_list: true, provides: true, installed_only: true }
    expect(await ask(pkg.search, options)).toEqual({
      w3m: { status: 'installed', name: 'w3m', summary: 'A "text" browser', kind: 'package' },
    })
    expect(await runs()).toEqual([
      `${READ} search --match-exact --provides --file-list --installed-only w3m (reading)`,
    ])
    const script = `case "$*" in *--provides*) ${text(stream(found('name="w3m"')))}\n;; *) ${text(stream(''))}\nexit 104;; esac`
    await program('zypper', script)
    await expect(ask(pkg.search, { criteria: 'none' })).rejects.toThrow("No packages found matching 'none'")
    const resolved = { pkgs: ['w3m_ssl', { other: '1' }], resolve_capabilities: true }
    expect(await ask(pkg.resolve_capabilities, resolved)).toEqual(['w3m', { w3m: '1' }])
    expect(await ask(pkg.resolve_capabilities, { pkgs: ['x'] })).toEqual(['x'])
  })

  describe('in their files', () => {
    const inRoot = () => ({ root: join(folder, 'root') })
    const add = async (name: string, lines: string) => {
      await mkdir(join(folder, 'root/etc/zypp/repos.d'), { recursive: true })
      await writeFile(join(folder, `root/etc/zypp/repos.d/${name}.repo`), lines)
    }
    beforeEach(() =>
      add('main', '[main]\nname=Main\nenabled=1\nautorefresh=0\nbaseurl=https://a.example/x\ntype=NONE\n'),
    )

    test('are listed', async () => {
      const main = {
        name: 'Main',
        enabled: true,
        autorefresh: false,
        baseurl: 'https://a.example/x',
        type: null,
        alias: 'main',
      }
      expect(await ask(pkg.list_repos, inRoot())).toEqual({ main })
      expect(await ask(pkg.get_repo, { repo: 'main', ...inRoot() })).toEqual(main)
      expect(await ask(pkg.get_repo, { repo: 'none', ...inRoot() })).toEqual({})
    })

    test('are changed, and their keys are trusted by a refresh', async () => {
      await xml('')
      const options = {
        name: 'New',
        enabled: false,
        refresh: true,
        cache: false,
        priority: 90,
        gpgautoimport: true,
      }
      expect(await ask(pkg.mod_repo, { repo: 'main', ...inRoot(), options })).toMatchObject({ alias: 'main' })
      const start = `${N} --xmlout`
      const where = `--root ${inRoot().root}`
      expect(await runs()).toEqual([
        `${start} ${where} --gpg-auto-import-keys mr --disable --refresh --no-keep-packages --priority=90 --name New main`,
        `${start} --no-refresh ${where} --gpg-auto-import-keys refresh main`,
      ])
      expect(await ask(pkg.mod_repo, { repo: 'main', ...inRoot(), options: {} })).toMatchObject({
        comment: 'Specified arguments did not result in modification of repo',
      })
    })

    test('are added, and removed', async () => {
      const file = join(folder, 'root/etc/zypp/repos.d/new.repo')
      await program(
        'zypper',
        `case "$*" in *" ar "*) printf '[new]\\nbaseurl=https://b.example/\\n' > ${file};; esac\n${text(stream('<progress id="remove-repo" done="1"/><message type="info">Repository \'main\' has been removed.</message>'))}`,
      )
      const options = { baseurl: 'https://b.example/', enabled: true }
      expect(await ask(pkg.mod_repo, { repo: 'new', ...inRoot(), options })).toMatchObject({ alias: 'new' })
      expect(await ask(pkg.del_repo, { repo: 'main', ...inRoot() })).toEqual({
        main: true,
        message: "Repository 'main' has been removed.",
      })
      await expect(ask(pkg.del_repo, { repo: 'none', ...inRoot() })).rejects.toThrow(
        "Repository 'none' not found.",
      )
    })

    test.each([
      ['other', {}, "Repository 'other' not found, and neither 'baseurl' nor 'mirrorlist' was specified"],
      [
        'other',
        { url: 'nonsense' },
        "Repository 'other' not found and URL for baseurl/mirrorlist is malformed",
      ],
      ['other', { url: 'https://a.example/x' }, "Repository 'other' already exists as 'main'."],
      ['other', { url: 'https://c.example/' }, "Failed add new repository 'other' for unspecified reason."],
      ['-x', {}, "'-x' begins with '-'"],
    ])('are not added as %s with %j', async (repo, options, reason) => {
      await xml('')
      await expect(ask(pkg.mod_repo, { repo, ...inRoot(), options })).rejects.toThrow(reason)
    })
  })
})

describe('Changes', () => {
  test(
    'install names, versions, files, advisories and capabilities with the right arguments',
    SLOW,
    async () => {
      await program('zypper', text(stream(found('name="SUSE-1" status="applied" summary=""'))))
      await ask(pkg.install, { pkgs: ['nano', { bash: '5.0-1' }, { vim: '>=9' }], fromrepo: 'Main' })
      await ask(pkg.install, {
        name: 'nano',
        skip_verify: true,
        no_recommends: true,
        resolve_capabilities: true,
      })
      await ask(pkg.install, { sources: [{ x: '/tmp/x.rpm' }] })
      await ask(pkg.install, { advisory_ids: ['SUSE-1'] })
      expect(await runs()).toEqual([
        `${N} --no-refresh install --auto-agree-with-licenses --name --force --force-resolution --from Main nano bash=5.0-1 vim>=9`,
        `${N} --no-gpg-checks --no-refresh install --auto-agree-with-licenses --capability --no-recommends nano`,
        `${N} --no-refresh install --auto-agree-with-licenses --name /tmp/x.rpm`,
        `${READ} se -t patch (reading)`,
        `${N} --no-refresh install --auto-agree-with-licenses --name patch:SUSE-1`,
      ])
      await expect(ask(pkg.install, { advisory_ids: ['SUSE-2'] })).rejects.toThrow(
        'Advisory id "SUSE-2" not found',
      )
      await expect(ask(pkg.install, { name: '--root=/x' })).rejects.toThrow('is not the name of a package')
    },
  )

  test('use the latest version that fits a pattern', async () => {
    const version = (edition: string) => `name="vim" kind="package" edition="${edition}"`
    await xml(found(version('9.0-1.9'), version('9.0-1.10'), version('9.1-1')))
    await ask(pkg.install, { name: 'vim', version: '9.0*' })
    expect((await runs()).at(-1)).toContain('--name vim=9.0-1.10')
    await expect(ask(pkg.install, { name: 'vim', version: '<>9' })).rejects.toThrow(
      'Zypper do not supports operator "<>".',
    )
  })

  test('install a lower version than the installed one by force', async () => {
    const line =
      "The selected package 'vim-8.0' from repository 'Main' has lower version than the installed one."
    await program('zypper', `case "$*" in *--force*) ;; *) echo "${line}";; esac`)
    await ask(pkg.install, { pkgs: [{ vim: '8.0' }] })
    expect((await runs()).at(-1)).toBe(
      `${N} --no-refresh install --auto-agree-with-licenses --name --force vim-8.0`,
    )
  })

  test('return the changes', async () => {
    const newer = 'bash_|-0_|-5.2_|-1_|-x86_64_|-1700000000'
    await program('zypper', `printf '%s\\n' '#!/bin/sh' 'echo "${newer}"' > ${join(folder, 'bin/rpm')}`)
    expect(await ask(pkg.install, { name: 'bash' })).toEqual({
      bash: { old: '4.4-9.14', new: '5.2-1' },
      vim: { old: '2:8.2-20.1', new: '' },
    })
  })

  test('remove installed packages, in the given version', SLOW, async () => {
    await program('zypper', '')
    expect(await ask(pkg.remove, { pkgs: ['vim', 'none', { bash: '1' }] })).toEqual({})
    expect(await ask(pkg.purge, { pkgs: [{ bash: '4.4-9.14' }] })).toEqual({})
    expect(await ask(pkg.remove, { name: 'none' })).toEqual({})
    expect(await runs()).toEqual([`${N} --no-refresh remove vim`, `${N} --no-refresh remove bash-4.4-9.14`])
  })

  test('upgrade packages, or the distribution', SLOW, async () => {
    await program('zypper', 'echo "would do"')
    expect(await ask(pkg.upgrade, { name: 'vim', fromrepo: ['a', 'b'], refresh: false })).toEqual({})
    const dist = {
      dist_upgrade: true,
      novendorchange: true,
      no_recommends: true,
      fromrepo: 'a',
      refresh: false,
    }
    expect(await ask(pkg.upgrade, { ...dist, dryrun: true })).toBe('would do')
    const upgrade = `${N} --no-refresh dist-upgrade --auto-agree-with-licenses --dry-run --from a --no-allow-vendor-change --no-recommends`
    expect(await runs()).toEqual([
      `${N} --no-refresh update --auto-agree-with-licenses --repo a --repo b vim`,
      `${upgrade} --debug-solver`,
      upgrade,
    ])
    await program('zypper', 'echo "no space" >&2; exit 8')
    const failed = ask(pkg.upgrade, { refresh: false })
    await expect(failed).rejects.toThrow(/Problem encountered upgrading packages.*retcode:\n +8\n.*no space/s)
  })

  test('download nothing without names', async () => {
    await expect(ask(pkg.download)).rejects.toThrow('No packages specified')
  })
})

describe('Errors of zypper', () => {
  test.each([
    [
      pkg.install,
      { name: 'none' },
      'echo "\'none\' not found in package names." >&2; exit 104',
      "'none' not found",
    ],
    [pkg.install, { name: 'none' }, 'exit 8', "Zypper command failure: Check Zypper's logs."],
    [
      pkg.list_upgrades,
      { refresh: false },
      `${text(stream('<message type="error">Some &lt;bad&gt; thing</message><message type="error">two</message>'))}\nexit 8`,
      'Zypper command failure: Some <bad> thing\ntwo',
    ],
    [pkg.list_patches, {}, 'echo "not xml"; echo broken >&2; exit 8', 'Zypper command failure: broken'],
  ])('are in the error of the job (%#)', async (fn, given, script, reason) => {
    await program('zypper', script)
    await expect(ask(fn, given)).rejects.toThrow(reason)
  })

  test.each([100, 101, 102, 103, 6, 106, 107])('with code %i are no errors', async (code) => {
    await program('zypper', `exit ${code}`)
    const of = context()
    expect(await ask(pkg.install, { name: 'vim' }, of)).toEqual({})
    expect(of.retcode).toBe(0)
    expect(of.lines.some(({ level }) => level === 'warn')).toBe(![100, 101, 102, 103].includes(code))
  })

  test.each([
    [
      7,
      'System management is locked by the application with pid 13266 (/usr/bin/zypper).\nClose this application before trying again.',
    ],
    [
      8,
      "Error: Subprocess failed. Error: RPM failed: error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)\n\nAbort, retry, ignore? [a/r/i] (a): a",
    ],
  ])(
    'about a lock make the job wait, until it is cancelled (recorded from zypper 1.14.42, code %i)',
    async (code, said) => {
      await program('zypper', `${text(said)}\nexit ${code}`)
      const cancelling = new AbortController()
      const of = fakeContext({ grains, signal: cancelling.signal })
      const removing = ask(pkg.remove, { name: 'vim' }, of)
      const cancelled = expect(removing).rejects.toThrow('aborted')
      await until('the warning', () => of.lines.some(({ message }) => message.includes('holds the lock')))
      cancelling.abort()
      await cancelled
    },
  )
})

describe('Locks', () => {
  const LOCKS = `
type: package
match_type: glob
case_sensitive: on
solvable_name: vim

# A comment: with a colon
type: package
match_type: glob
case_sensitive: on
solvable_name: bash
version: == 4.4-9.14
`
  const inRoot = () => ({ root: join(folder, 'root') })
  beforeEach(async () => {
    await mkdir(join(folder, 'root/etc/zypp'), { recursive: true })
    await writeFile(join(folder, 'root/etc/zypp/locks'), LOCKS)
  })

  test('are listed and cleaned', async () => {
    const lock = { type: 'package', match_type: 'glob', case_sensitive: 'on' }
    const bash = { ...lock, version: '== 4.4-9.14' }
    expect(await ask(pkg.list_locks, inRoot())).toEqual({ vim: lock, bash })
    expect(await ask(pkg.list_locks, { root: '/none' })).toEqual({})
    await xml('<message type="info">Removed 2 locks.</message>')
    expect(await ask(pkg.clean_locks, inRoot())).toEqual({ removed: '2' })
    expect(await ask(pkg.clean_locks, { root: '/none' })).toEqual({ removed: 0 })
  })

  test('are added and removed', async () => {
    await program('zypper', '')
    expect(await ask(pkg.hold, { pkgs: ['vim', { nano: '7' }], ...inRoot() })).toEqual({
      vim: { name: 'vim', changes: {}, result: true, comment: 'Package vim is already set to be held.' },
      nano: {
        name: 'nano',
        changes: { new: 'hold', old: '' },
        result: true,
        comment: 'Package nano is now being held.',
      },
    })
    const given = { pkgs: ['vim', { bash: '9' }, 'nano'], ...inRoot() }
    expect(await ask(pkg.unhold, given)).toMatchObject({
      vim: { changes: { new: '', old: 'hold' }, comment: 'Package vim is no longer held.' },
      bash: { result: false, comment: 'Unable to unhold package bash as it is held with the other version.' },
      nano: { result: true, comment: 'Package nano was already unheld.' },
    })
    await ask(pkg.unhold, { name: 'bash', ...inRoot() })
    const start = `${N} --no-refresh --root ${inRoot().root}`
    expect(await runs()).toEqual([`${start} al nano=7`, `${start} rl vim`, `${start} rl bash=4.4-9.14`])
    await expect(ask(pkg.hold)).rejects.toThrow('Name or packages must be specified.')
  })

  test('show the packages that they hold', SLOW, async () => {
    await program(
      'zypper',
      `case "$*" in *" vim") ${text(stream(found('name="vim"')))}\n;; *) exit 104;; esac`,
    )
    await program('rpm', "printf '2\\037vim\\0372:8.2-20.1\\036'")
    const log = join(folder, 'rpm.log')
    await program('rpm', "printf 'vim\\037x\\036' > /dev/null; printf '2:8.2-20.1\\0372\\037vim\\036'")
    expect(await ask(pkg.list_holds, inRoot())).toEqual(['vim-2:2:8.2-20.1.*'])
    expect(await ask(pkg.list_holds, { full: false, pattern: 'vi.*', ...inRoot() })).toEqual(['vim'])
    expect(await ask(pkg.list_holds, { pattern: 'bash', ...inRoot() })).toEqual([])
    expect(await readFile(log, 'utf8')).toContain('--queryformat')
  })
})
