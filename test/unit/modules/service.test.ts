import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readStarted as readChkconfig, readServices } from '../../../modules/_service/chkconfig.ts'
import { scriptName } from '../../../modules/_service/names.ts'
import { readRunlevels, readStarted } from '../../../modules/_service/openrc.ts'
import { currentRunlevel, initFiles, isScript, startedAt } from '../../../modules/_service/sysv.ts'
import * as debian from '../../../modules/debian_service.ts'
import * as openrc from '../../../modules/gentoo_service.ts'
import * as sysv from '../../../modules/linux_service.ts'
import * as redhat from '../../../modules/rh_service.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { MOUNTS, needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

let folder: string
const stub = (name: string, script: string) => stubProgram(join(folder, 'bin'), name, script)
/** Put a program that notes how it was called, then runs the script. */
const noting = (name: string, script = '') =>
  stub(name, `echo "${name} $*" >> ${join(folder, 'log')}\n${script}`)
const calls = () => linesOf(join(folder, 'log'))
const context = (grains: Record<string, unknown> = {}) =>
  fakeContext({
    grains: { kernel: 'Linux', ...grains },
    call: (async (name: string, given: { sig: string }) =>
      name === 'status.pid' && given.sig === 'here' ? '12\n13' : '') as never,
  })
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, of = context()) => call(fn, given, of)

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-service-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

describe('Names of init scripts', () => {
  test.each(['ssh', 'x11-common', 'hwclock.sh', 'getty@1'])('%s is recognised', (name) => {
    expect(scriptName(name)).toBe(name)
  })

  test.each(['', '.', '..', '-f', '--status-all', '../x', '/bin/sh', 'a b', 'a\nb', 'a\0'])(
    '%j is refused by all functions that run a script',
    async (name) => {
      const error = 'is not the name of a service'
      const functions = [debian.start, debian.enable, debian.disable, debian.status]
      functions.push(
        openrc.stop as never,
        openrc.enable as never,
        redhat.enable as never,
        sysv.start as never,
      )
      for (const fn of functions) await expect(ask(fn, { name })).rejects.toThrow(error)
    },
  )
})

describe('Init scripts of a folder', () => {
  beforeEach(async () => {
    await mkdir(join(folder, 'etc/init.d'), { recursive: true })
    await mkdir(join(folder, 'etc/rc2.d'))
    for (const name of ['b', 'x11-common', '.hidden']) {
      await writeFile(join(folder, 'etc/init.d', name), '#!/bin/sh\n', { mode: 0o755 })
    }
    await writeFile(join(folder, 'etc/init.d/README'), '')
    for (const link of ['S01x11-common', 'K01b', 'README']) {
      await symlink('../init.d/b', join(folder, 'etc/rc2.d', link))
    }
  })

  test('are found with their start links', async () => {
    expect(await initFiles(folder)).toEqual(['README', 'b', 'x11-common'])
    expect(await isScript('b', folder)).toBe(true)
    expect(await isScript('README', folder)).toBe(false)
    expect(await startedAt('2', folder)).toEqual(['x11-common'])
    expect(await startedAt('3', folder)).toEqual([])
    expect(await initFiles(join(folder, 'none'))).toEqual([])
  })

  test.each([
    ['N 5', '5'],
    ['unknown', '2'],
    ['', '2'],
    ['N ../x', '2'],
  ])('the runlevel of %j is %s (a stand-in for runlevel)', async (said, level) => {
    await stub('runlevel', `echo '${said}'; exit 1`)
    const own = context()
    expect(await currentRunlevel('2', own)).toBe(level)
    expect(own.retcode).toBe(0)
  })
})

describe('debian_service', () => {
  test('lists the scripts in /etc/init.d of this host', SLOW, async () => {
    const all = await ask(debian.get_all)
    const scripts = await initFiles()
    expect(all).toEqual(expect.arrayContaining(scripts.filter((name) => name !== 'README')))
    const [on, off] = [await ask(debian.get_enabled), await ask(debian.get_disabled)] as string[][]
    expect([...on!, ...off!].sort()).toEqual(all)
    expect(await ask(debian.missing, { name: 'no-such' })).toBe(true)
    expect(await ask(debian.enabled, { name: 'no-such' })).toBe(false)
    expect(await ask(debian.disabled, { name: 'no-such' })).toBe(false)
  })

  test('runs scripts by the program service (a stand-in)', async () => {
    await noting('service', 'case "$1" in bad) exit 3;; esac')
    const of = context()
    expect(await ask(debian.start, { name: 'ssh' }, of)).toBe(true)
    expect(await ask(debian.force_reload, { name: 'ssh' }, of)).toBe(true)
    expect(await ask(debian.status, { name: 'bad' }, of)).toBe(false)
    expect(of.retcode).toBe(0)
    expect(await ask(debian.stop, { name: 'bad' }, of)).toBe(false)
    expect(of.retcode).toBe(3)
    expect(await calls()).toEqual([
      'service ssh start',
      'service ssh force-reload',
      'service bad status',
      'service bad stop',
    ])
  })

  test('status accepts a regular expression for ps, or a pattern of names', async () => {
    await noting('service')
    expect(await ask(debian.status, { name: 'x', sig: 'here' })).toBe(true)
    expect(await ask(debian.status, { name: 'x', sig: 'elsewhere' })).toBe(false)
    expect(await ask(debian.status, { name: 'no-such*' })).toEqual({})
    expect(await calls()).toEqual([])
  })

  test('enables by insserv if it is installed (a stand-in)', async () => {
    await noting('insserv')
    await noting('update-rc.d')
    expect(await ask(debian.enable, { name: 'ssh' })).toBe(true)
    expect(await ask(debian.disable, { name: 'ssh' })).toBe(true)
    expect(await calls()).toEqual(['insserv ssh', 'update-rc.d ssh enable', 'update-rc.d ssh disable'])
    await noting('insserv', 'exit 1')
    expect(await ask(debian.enable, { name: 'ssh' })).toBe(false)
  })

  test('enables and disables by the real update-rc.d', {
    ...needs(MOUNTS, program('update-rc.d')),
    ...SLOW,
  }, async () => {
    const etc = join(folder, 'etc')
    await mkdir(join(etc, 'init.d'), { recursive: true })
    const header = ['Provides: web', 'Default-Start: 2 3', 'Default-Stop: 0'].map((line) => `# ${line}\n`)
    const script = `#!/bin/sh\n### BEGIN INIT INFO\n${header.join('')}### END INIT INFO\n`
    await writeFile(join(etc, 'init.d/web'), script, { mode: 0o755 })
    const real = `mount --bind ${etc} /etc && exec /usr/sbin/update-rc.d "$@"`
    await stub('update-rc.d', `exec unshare --mount sh -c '${real}' sh "$@"`)
    expect(await ask(debian.enable, { name: 'web' })).toBe(true)
    expect(await startedAt('2', folder)).toEqual(['web'])
    expect(await ask(debian.disable, { name: 'web' })).toBe(true)
    expect(await startedAt('2', folder)).toEqual([])
    expect(await readdir(join(etc, 'rc2.d'))).toEqual(['K01web'])
    expect(await ask(debian.enable, { name: 'web' })).toBe(true)
    expect(await startedAt('2', folder)).toEqual(['web'])
    expect(await ask(debian.enable, { name: 'none' })).toBe(false)
  })
})

describe('gentoo_service (stand-ins for the programs of OpenRC)', () => {
  const SHOWN = `          acpid |      default
       bootmisc | boot
          crond |      default
       hostname | boot default
           sshd |
        networking |
`
  beforeEach(async () => {
    await noting('rc-update', `[ "$1" = -v ] && cat <<'END'\n${SHOWN}END\n[ "$2" != broken ]`)
    await noting('rc-service', '[ "$1" != crond ]')
  })
  const changes = async () => (await calls()).filter((line) => !line.includes('-v'))

  test('lists services with their runlevels', SLOW, async () => {
    const enabled = {
      acpid: ['default'],
      bootmisc: ['boot'],
      crond: ['default'],
      hostname: ['boot', 'default'],
    }
    const entries = async (fn: AnyFn) => Object.fromEntries((await ask(fn)) as Map<string, string[]>)
    expect(await entries(openrc.get_enabled)).toEqual(enabled)
    expect(await entries(openrc.get_all)).toEqual({ ...enabled, sshd: [], networking: [] })
    expect(await ask(openrc.get_disabled)).toEqual(['networking', 'sshd'])
    expect(await ask(openrc.available, { name: 'sshd' })).toBe(true)
    expect(await ask(openrc.missing, { name: 'constructor' })).toBe(true)
    expect(await ask(openrc.enabled, { name: 'constructor' })).toBe(false)
    expect(await ask(openrc.enabled, { name: 'hostname', runlevels: ['boot', 'default'] })).toBe(true)
    expect(await ask(openrc.enabled, { name: 'hostname', runlevels: 'sysinit' })).toBe(false)
    expect(await ask(openrc.disabled, { name: 'sshd' })).toBe(true)
  })

  test('runs scripts', async () => {
    expect(await ask(openrc.restart, { name: 'sshd' })).toBe(true)
    expect(await ask(openrc.zap, { name: 'crond' })).toBe(false)
    expect(await ask(openrc.status, { name: '*o*' })).toEqual({
      bootmisc: true,
      crond: false,
      hostname: true,
      networking: true,
    })
    expect((await changes()).slice(0, 2)).toEqual(['rc-service sshd restart', 'rc-service crond zap'])
  })

  test('adds and deletes only runlevels that differ', async () => {
    expect(await ask(openrc.enable, { name: 'sshd' })).toBe(true)
    expect(await ask(openrc.enable, { name: 'hostname', runlevels: ['default', 'sysinit'] })).toBe(true)
    expect(await ask(openrc.enable, { name: 'acpid', runlevels: 'default' })).toBe(true)
    expect(await ask(openrc.disable, { name: 'hostname', runlevels: ['boot', 'nonetwork'] })).toBe(true)
    expect(await ask(openrc.disable, { name: 'sshd', runlevels: 'default' })).toBe(true)
    expect(await ask(openrc.disable, { name: 'acpid' })).toBe(true)
    expect(await ask(openrc.enable, { name: 'broken' })).toBe(false)
    expect(await changes()).toEqual([
      'rc-update add sshd',
      'rc-update delete hostname boot',
      'rc-update add hostname sysinit',
      'rc-update delete hostname boot',
      'rc-update delete acpid',
      'rc-update add broken',
    ])
    await expect(ask(openrc.enable, { name: 'sshd', runlevels: '--all' })).rejects.toThrow('"--all" is not')
  })

  test('reads the output of the programs (recorded)', () => {
    expect([...readRunlevels('nothing\n')]).toEqual([])
    const status = ` crond                  [  started 13:37:06 (0) ]
 networking                      [  stopped  ]
 acpid                           [  started  ]
 sshd                            [  crashed  ]
`
    expect(readStarted(status)).toEqual(['acpid', 'crond'])
  })
})

describe('rh_service (stand-ins for chkconfig and service)', () => {
  const LISTED = `netfs          \t0:off\t1:off\t2:off\t3:on\t4:on\t5:on\t6:off
sshd           \t0:off\t1:off\t2:on\t3:off\t4:off\t5:off\t6:off

xinetd based services:
\trsync:         \ton
`
  beforeEach(async () => {
    await stub('runlevel', 'echo unknown; exit 1')
    await noting(
      'chkconfig',
      `case "$*" in
        --list) cat <<'END'\n${LISTED}END\n ;;
        '--list netfs') echo 'netfs 0:off 1:off 2:off 3:on 4:on 5:on 6:off' ;;
        '--list rsync') echo 'rsync          on' ;;
        --list*|*bad) exit 1 ;;
      esac`,
    )
  })

  test('finds out whether a service is started', async () => {
    expect(await ask(redhat.enabled, { name: 'netfs' })).toBe(true)
    expect(await ask(redhat.enabled, { name: 'rsync' })).toBe(true)
    expect(await ask(redhat.disabled, { name: 'none' })).toBe(true)
    expect(await ask(redhat.available, { name: 'netfs' })).toBe(true)
    expect(await ask(redhat.available, { name: 'netfs', limit: 'upstart' })).toBe(false)
    expect(await ask(redhat.missing, { name: 'none' })).toBe(true)
    expect(await ask(redhat.get_all, { limit: 'Upstart' })).toEqual([])
  })

  test('adds a service before it enables it', async () => {
    expect(await ask(redhat.enable, { name: 'new' })).toBe(true)
    expect(await ask(redhat.disable, { name: 'netfs' })).toBe(true)
    expect(await ask(redhat.enable, { name: 'bad' })).toBe(false)
    expect(await ask(redhat.delete, { name: 'netfs' })).toBe(true)
    expect(await ask(redhat.delete, { name: 'none' })).toBe(false)
    expect((await calls()).filter((line) => !line.includes('--list'))).toEqual([
      'chkconfig --add new',
      'chkconfig new on',
      'chkconfig netfs off',
      'chkconfig --add bad',
      'chkconfig --del netfs',
    ])
  })

  test('reads the table of chkconfig (recorded)', () => {
    expect(readServices(LISTED)).toEqual(['netfs', 'sshd'])
    expect(readChkconfig(LISTED, 'netfs', '3')).toBe(true)
    expect(readChkconfig(LISTED, 'sshd', '3')).toBe(false)
    expect(readChkconfig(LISTED, 'ssh', '2')).toBe(false)
    expect(readChkconfig(LISTED, 'rsync', '3')).toBe(true)
  })
})

describe('service (any init scripts)', () => {
  test('runs scripts themselves', async () => {
    expect(await ask(sysv.get_all, {}, context({ os: 'Arch' }))).toEqual([])
    const [first] = (await ask(sysv.get_all)) as string[]
    if (first) expect(await ask(sysv.available, { name: first })).toBe(true)
    expect(await ask(sysv.missing, { name: 'no-such' })).toBe(true)
    await expect(ask(sysv.run, { name: 'no-such', action: 'start' })).rejects.toThrow(
      "Command '/etc/init.d/no-such' cannot be found",
    )
  })

  test('status has the pids', async () => {
    expect(await ask(sysv.status, { name: 'here' })).toBe('12\n13')
    expect(await ask(sysv.status, { name: 'x', sig: 'here' })).toBe('12\n13')
    expect(await ask(sysv.status, { name: 'elsewhere' })).toBe('')
    expect(await ask(sysv.status, { name: 'no-such*' })).toEqual({})
  })
})

test.each([
  ['Debian', false, ['debian']],
  ['Ubuntu', false, ['debian']],
  ['Debian', true, []],
  ['Alpine', false, ['openrc']],
  ['Gentoo', false, ['openrc']],
  ['Gentoo', true, []],
  ['Amazon', false, ['redhat']],
  ['CentOS', false, []],
  ['Void', false, ['sysv']],
  ['Void', true, []],
])('on %s, with systemd: %s, the providers are %j', async (os, booted, providers) => {
  const facts = {
    grains: { kernel: 'Linux', os, osmajorrelease: 9, init: booted ? 'systemd' : 'unknown' },
    context: new Map([['salt.utils.systemd.booted', booted]]),
  } as never
  const all = { debian, openrc, redhat, sysv }
  const offered: string[] = []
  for (const [name, { virtual }] of Object.entries(all)) {
    if ((await virtual(facts)) === true) offered.push(name)
  }
  expect(offered).toEqual(providers)
})
