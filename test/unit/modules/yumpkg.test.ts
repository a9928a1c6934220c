import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as pkg from '../../../modules/yumpkg.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'
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
  call(
    fn,
    given,
    fakeContext({ grains: { os_family: 'RedHat', os: 'AlmaLinux', osmajorrelease: 9, osarch: 'x86_64' } }),
  )

const LOCK = '--setopt=exit_on_lock=True'
const AVAILABLE = `Last metadata expiration check: 0:10:00 ago on Mon 01 Jan 2024.
Available Packages
bash.x86_64            5.1.8-10.el9         baseos
vim.x86_64             2:8.2-20.el9         appstream
`

test('yumpkg lists installed packages, with epoch and foreign architecture (a stand-in for dnf)', async () => {
  expect(await ask(pkg.list_pkgs)).toEqual({
    bash: '5.1.8-9.el9',
    'glibc.i686': '2.34-1.el9',
    vim: '2:8.2-20.el9',
  })
  expect(await ask(pkg.version, { names: ['vim'] })).toBe('2:8.2-20.el9')
})

test('yumpkg finds later versions (a stand-in for dnf)', async () => {
  await program('dnf', `cat <<'END'\n${AVAILABLE}END`)
  expect(await ask(pkg.latest_version, { names: ['bash', 'vim'] })).toEqual({ bash: '5.1.8-10.el9', vim: '' })
  expect(await ask(pkg.list_upgrades, { refresh: false })).toMatchObject({ bash: '5.1.8-10.el9' })
})

test('yumpkg installs, downgrades and removes with the right commands (a stand-in for dnf)', async () => {
  await program('dnf', '')
  await ask(pkg.install, { pkgs: ['nano', { bash: '5.0-1' }], fromrepo: 'epel' })
  await ask(pkg.remove, { name: 'vim,none' })
  expect(await runs('dnf')).toEqual([
    `${LOCK} -y --best --allowerasing --disablerepo=* --enablerepo=epel install nano`,
    `${LOCK} -y --disablerepo=* --enablerepo=epel downgrade bash-5.0-1`,
    `${LOCK} -y remove vim`,
  ])
})

test.each([
  ['1.0~rc1-1', '1.0-1', -1],
  ['1:1-1', '2-1', 1],
  ['1.0^git1', '1.0', 1],
  ['1.10', '1.9', 1],
  ['1.0', '1.0-3', 0],
  ['1.a', '1.1', -1],
])('yumpkg compares %s with %s as rpm does', async (pkg1, pkg2, order) => {
  expect(await ask(pkg.version_cmp, { pkg1, pkg2 })).toBe(order)
})

test.each([
  [
    200,
    'metadata already locked by 13266\n  The application with PID 13266 is: zypper\n    Memory : 1.8 M RSS (2.9 MB VSZ)\n    State  : Sleeping',
  ],
  [
    1,
    "RPM: error: can't create transaction lock on /var/lib/rpm/.rpm.lock (Resource temporarily unavailable)\nError: Could not run transaction.",
  ],
])(
  'yumpkg waits for a lock until the job is cancelled (recorded from dnf 4.14, code %i)',
  async (code, said) => {
    await program('dnf', `cat >&2 <<'END'\n${said}\nEND\nexit ${code}`)
    const cancelling = new AbortController()
    const context = fakeContext({ signal: cancelling.signal })
    const cancelled = expect(call(pkg.upgrade, { refresh: false }, context)).rejects.toThrow('aborted')
    await until('the warning', () => context.lines.some(({ message }) => message.includes('holds the lock')))
    cancelling.abort()
    await cancelled
  },
)

/** A stand-in for dnf that prints what dnf 4.14 printed for these words. */
const recorded = (answers: Readonly<Record<string, string>>, otherwise = '') =>
  program(
    'dnf',
    `case "$*" in\n${Object.entries(answers)
      .map(([words, text]) => `*'${words}'*) cat <<'END'\n${text}\nEND\n;;`)
      .join('\n')}\n*) ${otherwise || ':'};;\nesac`,
  )

const IN_REPO = `Installed Packages
bash.x86_64                                                       5.1.8-9.el9                           @lab
Available Packages
a-package-with-a-very-long-name-indeed-so-that-lines-break.x86_64 1.0.20240101gitabcdef0123456789-1.el9 lab
bash.x86_64                                                       5.1.8-9.el9                           lab
bash.x86_64                                                       5.1.8-10.el9                          lab
glibc.i686                                                        2.34-1.el9                            lab `

test('yumpkg lists packages of repositories, with versions selected by operator and glob (recorded from dnf)', async () => {
  await recorded({ 'repository-packages lab list': IN_REPO })
  expect(await ask(pkg.list_repo_pkgs, { args: [], fromrepo: 'lab' })).toEqual({
    'a-package-with-a-very-long-name-indeed-so-that-lines-break': ['1.0.20240101gitabcdef0123456789-1.el9'],
    bash: ['5.1.8-10.el9', '5.1.8-9.el9'],
    'glibc.i686': ['2.34-1.el9'],
  })
  await ask(pkg.install, { pkgs: [{ bash: '>5.1.8-9' }], fromrepo: 'lab' })
  await ask(pkg.install, { pkgs: [{ bash: '5.1.8-9*' }], fromrepo: 'lab', reinstall: true }).catch(() => {})
  const commands = (await runs('dnf')).filter((line) => / (?:re)?install /.test(line))
  expect(commands.map((line) => line.split(' ').slice(-2).join(' '))).toEqual([
    'install bash-5.1.8-10.el9',
    'reinstall bash-5.1.8-9.el9',
  ])
  await expect(ask(pkg.install, { name: 'bash', version: '>9', fromrepo: 'lab' })).rejects.toThrow(
    "No version matching 'bash>9' could be found (available: 5.1.8-10.el9, 5.1.8-9.el9)",
  )
})

const GROUP = `Group: Shop Tools
 Description: Tools for shops.
 Mandatory Packages:
   bash
 Default Packages:
   vim
   nano
 Optional Packages:
   emacs`
const ENVIRONMENT = `Environment Group: Shop Environment
 Description: All of it.
 Mandatory Groups:
   Shop Tools`

test('yumpkg reads groups and environments, and installs their missing packages (recorded from dnf)', async () => {
  await recorded({
    'groupinfo Shop Environment': ENVIRONMENT,
    'groupinfo Shop Tools': GROUP,
    'grouplist hidden':
      'Available Environment Groups:\n   Shop Environment\nInstalled Groups:\n   Shop Tools',
  })
  expect(await ask(pkg.group_list)).toMatchObject({
    installed: ['Shop Tools'],
    'available environments': ['Shop Environment'],
  })
  expect(await ask(pkg.group_info, { name: 'Shop Environment' })).toMatchObject({
    type: 'environment group',
    mandatory: ['Shop Tools'],
    id: null,
  })
  expect(await ask(pkg.group_diff, { name: 'Shop Environment' })).toMatchObject({
    mandatory: { installed: ['bash'], 'not installed': [] },
    default: { installed: ['vim'], 'not installed': ['nano'] },
  })
  await ask(pkg.group_install, { name: 'Shop Tools', include: 'emacs' })
  expect((await runs('dnf')).at(-1)).toMatch(/install emacs nano$/)
  await expect(ask(pkg.group_info, { name: 'none' })).rejects.toThrow("Group 'none' not found")
})

test(
  'yumpkg holds and unholds packages, and changes held ones only on request (recorded from dnf)',
  SLOW,
  async () => {
    await program('dnf', '')
    await expect(ask(pkg.hold, { name: 'vim' })).rejects.toThrow(
      'Cannot proceed, python3-dnf-plugin-versionlock is not installed.',
    )
    await installed(
      'python3-dnf-plugin-versionlock_|-0_|-4.3_|-1_|-noarch_|-1',
      'vim_|-2_|-8.2_|-20.el9_|-x86_64_|-1',
    )
    const answers = {
      'versionlock list':
        'Last metadata expiration check: 0:00:12 ago on Thu Nov 26 16:45:44 2026.\nvim-2:8.2-20.el9.*',
      'versionlock none': 'No package found for: none',
    }
    await recorded(answers)
    expect(await ask(pkg.list_holds)).toEqual(['vim-2:8.2-20.el9.*'])
    expect(await ask(pkg.list_holds, { full: false })).toEqual(['vim'])
    expect(await ask(pkg.hold, { pkgs: ['vim', 'none', 'bash'] })).toMatchObject({
      vim: { result: true, comment: 'Package vim is already set to be held.' },
      none: { result: false, comment: 'Package none was unable to be held.' },
      bash: { result: true, changes: { new: 'hold', old: '' } },
    })
    expect(await ask(pkg.unhold, { pkgs: ['vim', 'bash'] })).toMatchObject({
      vim: { comment: 'Package vim is no longer held.' },
      bash: { comment: 'Package bash is not being held.' },
    })
    await expect(ask(pkg.install, { name: 'vim' })).rejects.toThrow("Set 'update_holds' to True")
    await ask(pkg.install, { name: 'vim', update_holds: true })
    const changes = (await runs('dnf')).filter((line) => / (?:delete|install) /.test(line)).slice(-2)
    expect(changes.map((line) => line.replace(`${LOCK} `, ''))).toEqual([
      'versionlock delete vim',
      '-y --best --allowerasing install vim',
    ])
  },
)

test('yumpkg lists advisories, each installed if all of its packages are (recorded from dnf)', async () => {
  await recorded({
    'updateinfo list all': `i LAB-2024:001 Important/Sec. shop-1.1-1.noarch
i LAB-2024:002 bugfix         shop-2.0-1.el9.noarch
  LAB-2024:002 bugfix         shop-lib-2.0-1.el9.noarch`,
  })
  expect(await ask(pkg.list_patches)).toEqual({
    'LAB-2024:001': { installed: true, summary: ['shop-1.1-1.noarch'] },
    'LAB-2024:002': { installed: false, summary: ['shop-2.0-1.el9.noarch', 'shop-lib-2.0-1.el9.noarch'] },
  })
  expect(Object.keys((await ask(pkg.list_installed_patches)) as object)).toEqual(['LAB-2024:001'])
  await ask(pkg.install, { advisory_ids: ['LAB-2024:002'] })
  expect((await runs('dnf')).at(-1)).toMatch(/update --advisory=LAB-2024:002$/)
  await expect(ask(pkg.install, { advisory_ids: ['NONE'] })).rejects.toThrow('Advisory id "NONE" not found')
})

test('yumpkg reads the output of rpm about changed files (recorded from rpm 4.18)', async () => {
  await program(
    'rpm',
    `cat <<'END'
S.5....T.  c /etc/shop.conf
missing    d /opt/shop/README
S.5....T.    /opt/shop/data
END
exit 1`,
  )
  expect(await ask(pkg.verify)).toEqual({
    '/etc/shop.conf': { type: 'config', mismatch: ['size', 'md5sum', 'mtime'] },
    '/opt/shop/README': { type: 'doc', missing: true },
    '/opt/shop/data': { mismatch: ['size', 'md5sum', 'mtime'] },
  })
  expect(await ask(pkg.verify, { ignore_types: 'config,doc' })).toEqual({
    '/opt/shop/data': { mismatch: ['size', 'md5sum', 'mtime'] },
  })
  expect(await ask(pkg.modified, { flags: { size: true } })).toEqual({
    '/etc/shop.conf': ['size', 'checksum', 'time', 'config'],
    '/opt/shop/data': ['size', 'checksum', 'time'],
  })
})

test('yumpkg adds, changes and removes repositories, and keeps their comments', async () => {
  const file = join(folder, 'lab.repo')
  const text =
    '# The lab\n[lab]\nname=The lab\nbaseurl=http://a\n  http://b\n# no key\n\n[off]\nname=Off\nbaseurl=x\n'
  await writeFile(file, text)
  const basedir = folder
  expect(await ask(pkg.list_repos, { basedir })).toEqual({
    lab: { name: 'The lab', baseurl: 'http://a\nhttp://b', comments: ['no key'], file },
    off: { name: 'Off', baseurl: 'x', file },
  })
  const options = { enabled: false, priority: 5, baseurl: '', mirrorlist: 'http://c' }
  expect(await ask(pkg.mod_repo, { repo: 'lab', basedir, options })).toMatchObject({
    [file]: { lab: { name: 'The lab', enabled: false, priority: 5, mirrorlist: 'http://c' } },
  })
  expect(await readFile(file, 'utf8')).toBe(
    '# The lab\n[lab]\nname=The lab\nenabled=0\npriority=5\nmirrorlist=http://c\n# no key\n\n[off]\nname=Off\nbaseurl=x\n\n',
  )
  expect(await ask(pkg.del_repo, { repo: 'lab', basedir })).toBe(`Repo lab has been removed from ${file}`)
  expect(await ask(pkg.del_repo, { repo: 'off', basedir })).toBe(
    `File ${file} containing repo off has been removed`,
  )
  expect(await ask(pkg.get_repo, { repo: 'lab', basedir })).toEqual({})
})

test('yumpkg refuses repositories that would be written to other files or sections', async () => {
  const change = (repo: string, options: object) => ask(pkg.mod_repo, { repo, basedir: folder, options })
  await expect(change('../evil', { name: 'x', baseurl: 'y' })).rejects.toThrow('no name of a repository')
  await expect(change('new', { 'x]\n[evil': 'y' })).rejects.toThrow('no name of an option')
  await expect(change('new', { name: 'N' })).rejects.toThrow('a baseurl or a mirrorlist needs to be given')
  await change('new', { name: 'N\n[evil]\nbaseurl=z', baseurl: 'y' })
  expect(Object.keys((await ask(pkg.list_repos, { basedir: folder })) as object)).toEqual(['new'])
})

test('yumpkg refuses names that dnf or rpm would take for options', async () => {
  await program('dnf', '')
  for (const call of [
    () => ask(pkg.install, { name: '--nogpgcheck' }),
    () => ask(pkg.remove, { pkgs: ['-v'] }),
    () => ask(pkg.latest_version, { names: ['--setopt=x'] }),
    () => ask(pkg.file_list, { packages: ['--root=/'] }),
    () => ask(pkg.group_info, { name: '-x' }),
    () => ask(pkg.verify, { verify_options: ['define=_x %(id)'] }),
  ])
    await expect(call()).rejects.toThrow(/option/)
})
