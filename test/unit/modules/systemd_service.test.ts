import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { inScope, withoutScope } from '../../../modules/_systemd/scope.ts'
import { readProperties } from '../../../modules/_systemd/show.ts'
import { readRunning, readUnitFiles } from '../../../modules/_systemd/unit-files.ts'
import { listedName, unitName } from '../../../modules/_systemd/units.ts'
import * as service from '../../../modules/systemd_service.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'
import { linesOf, stubProgram } from './stub.ts'

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-systemd-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

/** A context of a host where systemd runs, or where it does not. */
const hostContext = (booted: boolean, opts: Record<string, unknown> = {}) =>
  fakeContext({
    opts,
    grains: { kernel: 'Linux', systemd: { version: '252' } },
    context: new Map([['salt.utils.systemd.booted', booted]]),
  })
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, context = hostContext(true)) =>
  call(fn, given, context)

const STATUS = {
  sshd: `● ssh.service - OpenBSD Secure Shell server
     Loaded: loaded (/lib/systemd/system/ssh.service; enabled; preset: enabled)
     Active: active (running) since Thu 2026-11-26 10:00:00 UTC; 1h ago`,
  changed: `Warning: The unit file, source configuration file or drop-ins of changed.service changed on disk. Run 'systemctl daemon-reload' to reload units.
○ changed.service - Changed
     Loaded: loaded (/lib/systemd/system/changed.service; disabled; preset: enabled)
     Active: inactive (dead)`,
}

/** Stands for systemctl of version 252: answers as it does, and notes how it was called. */
const SYSTEMCTL = `echo "$*" >> LOG
for unit; do :; done
case "$*" in
  *status*sshd.service) cat <<'END'\n${STATUS.sshd}\nEND
    exit 0 ;;
  *status*changed.service) cat <<'END'\n${STATUS.changed}\nEND
    exit 3 ;;
  *status*template@1.service|*status*stopped.service) echo "○ $unit"; exit 3 ;;
  *status*) echo "Unit $unit could not be found."; exit 4 ;;
  *is-active*sshd.service) echo active; exit 0 ;;
  *is-active*) echo inactive; exit 3 ;;
  *is-enabled*sshd.service) echo enabled; exit 0 ;;
  *is-enabled*) echo disabled; exit 1 ;;
  *masked.service) echo "Failed to start masked.service: Unit masked.service is masked." >&2; exit 1 ;;
  *none.service) echo "Failed to change none.service: Unit none.service not found." >&2; exit 5 ;;
esac`

describe('Where systemd runs (a stand-in for systemctl)', () => {
  const calls = async () => (await linesOf(join(folder, 'log'))).filter((line) => !line.startsWith('status'))
  beforeEach(async () => {
    const bin = join(folder, 'bin')
    await stubProgram(bin, 'systemctl', SYSTEMCTL.replace('LOG', join(folder, 'log')))
    await stubProgram(bin, 'systemd-run', 'echo "Running scope as unit: run-r1.scope" >&2; shift; exec "$@"')
    await stubProgram(bin, 'runlevel', 'echo N 5')
  })

  test.each([
    ['start', service.start],
    ['restart', service.restart],
    ['reload', service.reload],
  ] as const)('%s calls systemctl in a scope', async (verb, fn) => {
    await stubProgram(
      join(folder, 'bin'),
      'systemd-run',
      `echo "$*" >> ${join(folder, 'run')}; shift; exec "$@"`,
    )
    expect(await ask(fn, { name: 'sshd' })).toBe(true)
    expect(await calls()).toEqual([`${verb} -- sshd.service`])
    expect(await linesOf(join(folder, 'run'))).toEqual([`--scope systemctl ${verb} -- sshd.service`])
  })

  test('force_reload does not wait, nor does a restart of the minion itself', SLOW, async () => {
    await ask(service.force_reload, { name: 'sshd' })
    await ask(service.restart, { name: 'salt-minion' })
    await ask(service.stop, { name: 'salt-minion' })
    await ask(service.stop, { name: 'salt-minion', no_block: false })
    expect(await calls()).toEqual([
      '--no-block force-reload -- sshd.service',
      '--no-block restart -- salt-minion.service',
      '--no-block stop -- salt-minion.service',
      'stop -- salt-minion.service',
    ])
  })

  test('an error is the text of systemctl, without the line about the scope', async () => {
    const context = hostContext(true)
    await expect(ask(service.start, { name: 'masked' }, context)).rejects.toThrow(
      /^Failed to start masked.service: Unit masked.service is masked.$/,
    )
    expect(await ask(service.stop, { name: 'none' }, context)).toBe(false)
    expect(context.retcode).toBe(5)
  })

  test('mask and unmask report failures', async () => {
    await expect(ask(service.mask, { name: 'none' })).rejects.toThrow(
      /^Failed to mask service 'none'\. Additional info follows:\n\n(.*\n)?Failed to change none.service: /,
    )
    expect(await ask(service.unmask, { name: 'none' })).toBe(true)
    expect(await calls()).toEqual(['mask -- none.service'])
  })

  test('a changed unit file is read again before', async () => {
    expect(await ask(service.start, { name: 'changed' })).toBe(true)
    expect(await calls()).toEqual(['--system daemon-reload', 'start -- changed.service'])
  })

  test('available and missing follow the exit code of status', async () => {
    for (const name of ['sshd', 'stopped', 'template@1'])
      expect(await ask(service.available, { name })).toBe(true)
    expect(await ask(service.available, { name: 'none' })).toBe(false)
    expect(await ask(service.missing, { name: 'none' })).toBe(true)
  })

  test('available reads the text of systemd before 231, whose exit codes are ambiguous', async () => {
    const bin = join(folder, 'bin')
    const old = (version: string) => {
      const context = hostContext(true)
      return { ...context, grains: { systemd: { version } } }
    }
    await stubProgram(bin, 'systemctl', "printf '● a.service\\n   Loaded: not-found (Reason: x)\\n'; exit 3")
    expect(await call(service.available, { name: 'a' }, old('219'))).toBe(false)
    expect(await call(service.available, { name: 'a' }, old('231'))).toBe(true)
    await stubProgram(bin, 'systemctl', "printf '● a.service\\n   Loaded: loaded (/a)\\n'; exit 3")
    expect(await call(service.available, { name: 'a' }, old('219'))).toBe(true)
    await stubProgram(bin, 'systemctl', 'exit 3')
    await expect(call(service.available, { name: 'a' }, old('219'))).rejects.toThrow(
      "Failed to get information on unit 'a'",
    )
  })

  test('status is a boolean, for a pattern a map', async () => {
    const context = hostContext(true)
    expect(await ask(service.status, { name: 'sshd' }, context)).toBe(true)
    expect(await ask(service.status, { name: 'stopped' }, context)).toBe(false)
    expect(context.retcode).toBe(0)
    expect(await ask(service.status, { name: 'no such*' })).toEqual({})
  })

  test('enable and disable differ in how they fail', async () => {
    expect(await ask(service.enable, { name: 'sshd' })).toBe(true)
    await expect(ask(service.enable, { name: 'none' })).rejects.toThrow('Unit none.service not found.')
    expect(await ask(service.disable, { name: 'none' })).toBe(false)
    expect(await ask(service.enabled, { name: 'sshd' })).toBe(true)
    expect(await ask(service.disabled, { name: 'sshd' })).toBe(false)
    expect(await ask(service.enabled, { name: 'none' })).toBe(false)
  })

  test('systemctl_reload fails with the text of systemctl', async () => {
    expect(await ask(service.systemctl_reload)).toBe(true)
    await stubProgram(join(folder, 'bin'), 'systemctl', 'echo no bus >&2; exit 1')
    await expect(ask(service.systemctl_reload)).rejects.toThrow(
      'Problem performing systemctl daemon-reload: no bus',
    )
  })

  test('show and execs read properties', async () => {
    const shown = 'Id=a.service\\nExecStart={ path=/bin/a ; argv[]=/bin/a --b=c ; pid=0 }\\nAfter=x y'
    await stubProgram(join(folder, 'bin'), 'systemctl', `printf '${shown}\\n'`)
    expect(await ask(service.show, { name: 'a' })).toEqual({
      Id: 'a.service',
      ExecStart: { path: '/bin/a', 'argv[]': '/bin/a --b=c', pid: '0' },
      After: ['x', 'y'],
    })
    await mkdir(join(folder, 'etc/systemd/system'), { recursive: true })
    await writeFile(join(folder, 'etc/systemd/system/a.service'), '')
    expect(await ask(service.execs, { root: folder })).toEqual({ a: '/bin/a' })
    await stubProgram(join(folder, 'bin'), 'systemctl', 'echo failed >&2; exit 1')
    await expect(ask(service.show, { name: 'a' })).rejects.toThrow('failed')
    expect(await ask(service.execs, { root: folder })).toEqual({})
  })

  test('an init script without a unit file is enabled by update-rc.d', SLOW, async () => {
    await mkdir(join(folder, 'etc/init.d'), { recursive: true })
    await mkdir(join(folder, 'etc/rc5.d'), { recursive: true })
    for (const name of ['old', 'off']) await writeFile(join(folder, 'etc/init.d', name), '', { mode: 0o755 })
    await writeFile(join(folder, 'etc/init.d/README'), '')
    await symlink('../init.d/old', join(folder, 'etc/rc5.d/S01old'))
    await stubProgram(join(folder, 'bin'), 'update-rc.d', `echo "$DPKG_ROOT: $*" >> ${folder}/update`)
    const root = folder
    expect(await ask(service.get_all, { root })).toEqual(['off', 'old'])
    expect(await ask(service.get_enabled, { root })).toEqual(['old'])
    expect(await ask(service.get_disabled, { root })).toEqual(['off'])
    expect(await ask(service.enabled, { name: 'old', root })).toBe(true)
    expect(await ask(service.enabled, { name: 'ld', root })).toBe(false)
    expect(await ask(service.enable, { name: 'off', root })).toBe(true)
    expect(await ask(service.disable, { name: 'old', root })).toBe(true)
    expect(await linesOf(join(folder, 'update'))).toEqual([
      `${root}: -f off defaults 99`,
      `${root}: -f old remove`,
    ])
  })
})

describe('Where systemd is installed but does not run', needs(program('systemctl')), () => {
  const units = (...path: string[]) => join(folder, 'etc/systemd/system', ...path)
  const below = (fn: AnyFn, given: Record<string, unknown> = {}) =>
    ask(fn, { ...given, root: folder }, hostContext(false))

  beforeEach(async () => {
    await mkdir(units(), { recursive: true })
    await mkdir(join(folder, 'lib/systemd/system'), { recursive: true })
    const install = '[Install]\nWantedBy=multi-user.target\n'
    const text = '[Service]\nExecStart=/bin/true\n'
    await writeFile(join(folder, 'lib/systemd/system/web.service'), `${text}${install}`)
    await writeFile(join(folder, 'lib/systemd/system/job@.service'), `${text}${install}`)
    await writeFile(join(folder, 'lib/systemd/system/once.service'), text)
    await writeFile(join(folder, 'lib/systemd/system/web.socket'), '[Socket]\nListenStream=1\n')
  })

  test('services of another root are enabled, disabled and listed', SLOW, async () => {
    expect(await below(service.get_all)).toEqual(['job@', 'once', 'web', 'web.socket'])
    expect(await below(service.get_disabled)).toEqual(['job@', 'web'])
    expect(await below(service.get_static)).toEqual(['once', 'web.socket'])
    expect(await below(service.enable, { name: 'web' })).toBe(true)
    expect(await readdir(units('multi-user.target.wants'))).toEqual(['web.service'])
    expect(await below(service.get_enabled)).toEqual(['web'])
    expect(await below(service.enabled, { name: 'web.service' })).toBe(true)
    expect(await below(service.disable, { name: 'web' })).toBe(true)
    expect(await below(service.disabled, { name: 'web' })).toBe(true)
  })

  test('instances of a template are enabled', async () => {
    expect(await below(service.enabled, { name: 'job@1' })).toBe(false)
    expect(await below(service.enable, { name: 'job@1' })).toBe(true)
    expect(await below(service.enabled, { name: 'job@1' })).toBe(true)
    expect(await below(service.enabled, { name: 'job@2' })).toBe(false)
  })

  test('masks are links to /dev/null, for ever or until the next boot', async () => {
    expect(await below(service.mask, { name: 'web' })).toBe(true)
    expect(await readlink(units('web.service'))).toBe('/dev/null')
    expect(await below(service.masked, { name: 'web' })).toBe(true)
    expect(await below(service.masked, { name: 'web', runtime: true })).toBe(false)
    await expect(below(service.enable, { name: 'web' })).rejects.toThrow(/masked/)
    expect(await below(service.enable, { name: 'web', unmask: true })).toBe(true)
    expect(await below(service.masked, { name: 'web' })).toBe(false)
    expect(await below(service.mask, { name: 'web', runtime: true })).toBe(true)
    expect(await below(service.masked, { name: 'web', runtime: true })).toBe(true)
    expect(await below(service.unmask, { name: 'web', runtime: true })).toBe(true)
    expect(await below(service.masked, { name: 'web', runtime: true })).toBe(false)
  })

  test('a missing unit is an error, and a name that looks like an option is a name', async () => {
    await expect(below(service.enable, { name: 'none' })).rejects.toThrow('none.service does not exist')
    await expect(below(service.enable, { name: '--force' })).rejects.toThrow('--force.service does not exist')
    expect(await below(service.enabled, { name: 'none' })).toBe(false)
  })

  test('functions that need a running systemd are refused, or return false', async () => {
    const context = hostContext(false)
    expect(await ask(service.offline, {}, context)).toBe(true)
    await expect(ask(service.available, { name: 'web' }, context)).rejects.toThrow(
      "Cannot run in offline mode. Failed to get information on unit 'web'",
    )
  })

  test('firstboot sets missing settings', async () => {
    expect(await below(service.firstboot, { hostname: 'web1', locale: 'C.UTF-8', locale_message: 'C' })).toBe(
      true,
    )
    expect(await readFile(join(folder, 'etc/hostname'), 'utf8')).toBe('web1\n')
    await expect(below(service.firstboot, { machine_id: 'x' })).rejects.toThrow(/^systemd-firstboot error: /)
  })
})

describe('Names', () => {
  test.each([
    ['sshd', 'sshd.service'],
    ['sshd.service', 'sshd.service'],
    ['-.mount', '-.mount'],
    ['getty@tty1', 'getty@tty1.service'],
    ['php8.2-fpm', 'php8.2-fpm.service'],
    ['my-service', 'my-service.service'],
    ['user.slice', 'user.slice'],
  ])('%s is %s', (given, full) => {
    expect(unitName(given)).toBe(full)
  })

  test.each(['', 'a/b', '../../tmp/x.service', 'a b', 'a\nb', 'a\0b'])('%j is refused', async (name) => {
    expect(() => unitName(name)).toThrow('is not the name of a unit')
    await expect(ask(service.masked, { name })).rejects.toThrow('is not the name of a unit')
  })

  test('services are listed without their suffix, units of some types not at all', () => {
    expect(['a.service', 'a.b.service', 'a.timer', 'a.slice', 'a.wants', 'a'].map(listedName)).toEqual([
      'a',
      'a.b',
      'a.timer',
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('Output of systemctl (recorded)', () => {
  test('list-units: failed units begin with a mark', () => {
    const table = `  proc-sys.automount       loaded active running   Arbitrary Executable
  -.mount                  loaded active mounted   Root Mount
● apache2.service          loaded failed failed    The Apache HTTP Server
● gone.service             not-found active running gone.service
  cron.service             loaded active running   Regular background program
  init.scope               loaded active running   System and Service Manager
  dbus.socket              loaded active running   D-Bus System Message Bus Socket
`
    expect(readRunning(table)).toEqual(['cron', 'dbus.socket', 'gone', 'proc-sys.automount'])
    expect(readRunning('')).toEqual([])
  })

  test('list-unit-files: with and without the column of presets', () => {
    const table = `cron.service enabled enabled
old.service    enabled
-.mount generated -
getty@.service enabled enabled
x.slice enabled enabled
run.service enabled-runtime enabled
`
    expect(readUnitFiles(table, 'enabled')).toEqual(['cron', 'old', 'getty@'])
  })

  test('show: values may contain any signs', () => {
    const text = `Id=ssh.service
Description=Server = x
ExecReload={ path=/bin/kill ; argv[]=/bin/kill -HUP $\{MAINPID} ; status=0/0 }
Environment=A={b} C=d
Wants=
After=a.target b.service
ExecStart={ path=/usr/sbin/sshd ; argv[]=/usr/sbin/sshd -o a=b ; ignore_errors=no }`
    expect(readProperties(text)).toEqual({
      Id: 'ssh.service',
      Description: 'Server = x',
      ExecReload: { path: '/bin/kill', 'argv[]': `/bin/kill -HUP $\{MAINPID}`, status: '0/0' },
      Environment: 'A={b} C=d',
      Wants: [],
      After: ['a.target', 'b.service'],
      ExecStart: { path: '/usr/sbin/sshd', 'argv[]': '/usr/sbin/sshd -o a=b', ignore_errors: 'no' },
    })
  })
})

describe('Scopes', () => {
  beforeEach(() => stubProgram(join(folder, 'bin'), 'systemd-run', ''))
  const words = (context: ReturnType<typeof hostContext>) => inScope(['a', 'b'], context)

  test('are used where systemd runs, unless the configuration says no', async () => {
    expect(await words(hostContext(true))).toEqual([join(folder, 'bin/systemd-run'), '--scope', 'a', 'b'])
    expect(await words(hostContext(false))).toEqual(['a', 'b'])
    expect(await words(hostContext(true, { 'systemd.scope': false }))).toEqual(['a', 'b'])
    const pillar = { 'systemd.scope': false }
    expect(await inScope(['a'], { ...hostContext(true), pillar })).toEqual(['a'])
  })

  test('lines about them are removed from errors, in the words of old and new versions', () => {
    const text = `Running scope as unit: run-r1.scope\nFailed.\nRunning as unit: run-r2.scope; invocation ID: 0a1b`
    expect(withoutScope(text)).toBe('Failed.')
  })
})

test('the module is available where systemd runs, or is at least installed', async () => {
  const facts = (booted: boolean, kernel = 'Linux') =>
    ({ grains: { kernel }, context: new Map([['salt.utils.systemd.booted', booted]]) }) as never
  expect(await service.virtual(facts(true))).toBe(true)
  expect(await service.virtual(facts(true, 'FreeBSD'))).toMatch('only available on Linux')
  await stubProgram(join(folder, 'bin'), 'systemctl', '')
  expect(await service.virtual(facts(false))).toBe(true)
})
