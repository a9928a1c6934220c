import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { which } from '../../../modules/_cmd/which.ts'
import * as pip from '../../../modules/pip.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, program } from '../../harness/needs.ts'
import { SLOW } from '../../harness/slow.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let folder: string
let bin_env: string

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-pip-')
  bin_env = join(folder, 'pip')
})
afterEach(() => removeFolder(folder))

async function pipThat(prints: string, retcode = 0): Promise<void> {
  await writeFile(
    bin_env,
    `#!/bin/sh\necho "$*" >> ${folder}/log\ncat <<'END'\n${prints}\nEND\nexit ${retcode}\n`,
  )
  await chmod(bin_env, 0o755)
}
const lastRun = async () => (await readFile(join(folder, 'log'), 'utf8')).trim().split('\n').at(-1)
const ask = (fn: AnyFn, given: Record<string, unknown> = {}) => call(fn, { bin_env, ...given }, fakeContext())

test('pip lists packages, also by a prefix (a stand-in for pip)', async () => {
  await pipThat('[{"name": "Jinja2", "version": "3.1.2"}, {"name": "pip", "version": "23.0"}]')
  expect(await ask(pip.list)).toEqual({ Jinja2: '3.1.2', pip: '23.0' })
  expect(await ask(pip.list, { prefix: 'jin' })).toEqual({ Jinja2: '3.1.2' })
  expect(await ask(pip.is_installed, { pkgname: 'jinja2' })).toBe(true)
})

test('pip lists upgrades and versions (a stand-in for pip)', async () => {
  await pipThat('[{"name": "pip", "version": "1", "latest_version": "2", "latest_filetype": "wheel"}]')
  expect(await ask(pip.list_upgrades)).toEqual({ pip: '2 [wheel]' })
  expect(await ask(pip.upgrade_available, { pkg: 'six' })).toBe(false)
  await pipThat('six (1.2)\nAvailable versions: 1.2, 1.2rc1, 1.1')
  expect(await ask(pip.list_all_versions, { pkg: 'six' })).toEqual(['1.1', '1.2'])
  await pipThat('pip 23.0.1 from /usr/lib (python 3.11)')
  expect(await ask(pip.version)).toBe('23.0.1')
})

test('pip installs and uninstalls the named packages, with extras and version ranges', async () => {
  await pipThat('done')
  expect(await ask(pip.install, { pkgs: 'a[x,y]>=1,<2,b', upgrade: true })).toMatchObject({
    retcode: 0,
    stdout: 'done',
  })
  expect(await lastRun()).toBe('install --upgrade a[x,y]>=1,<2 b')
  await ask(pip.uninstall, { pkgs: ['a', 'b'] })
  expect(await lastRun()).toBe('uninstall -y a b')
  await expect(ask(pip.install, { pkgs: ['--index-url=x'] })).rejects.toThrow('is an option of pip')
  expect(await ask(pip.install)).toEqual({ retcode: 0, stdout: 'No packages to install.' })
})

test('pip passes on options without a parameter of their own, and options for building packages', async () => {
  await pipThat('done')
  const extra_args = ['--no-build-isolation', { '--progress-bar': 'off' }]
  await ask(pip.install, { pkgs: 'a', extra_args })
  expect(await lastRun()).toBe('install a --no-build-isolation --progress-bar off')
  await ask(pip.install, { pkgs: 'a', source: '/srv', global_options: 'x,y', install_options: ['z'] })
  expect(await lastRun()).toBe(
    'install --source /srv --global-option x --global-option y --install-option z a',
  )
})

test("pip answers with Salt's map if a file of requirements is not on the file server", async () => {
  await pipThat('done')
  const context = fakeContext({ call: (async () => false) as never })
  for (const fn of [pip.install, pip.uninstall] as AnyFn[]) {
    context.retcode = 0
    expect(await call(fn, { bin_env, requirements: 'salt://none.txt' }, context)).toEqual({
      result: false,
      comment: "pip requirements file 'salt://none.txt' not found",
    })
    expect(context.retcode).toBe(1)
  }
})

test('pip refuses addresses that the program cannot use, as Salt does', async () => {
  await pipThat('done')
  const refused = (given: Record<string, unknown>) => ask(pip.install, { pkgs: 'a', ...given })
  await expect(refused({ no_index: true, index_url: 'http://x' })).rejects.toThrow(
    "'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.",
  )
  await expect(refused({ index_url: 'x' })).rejects.toThrow("'x' is not a valid URL")
  await expect(refused({ extra_index_url: 'x' })).rejects.toThrow("'x' is not a valid URL")
  await expect(refused({ find_links: '/none' })).rejects.toThrow("'/none' is not a valid URL or path")
  await expect(refused({ editable: 'git+https://x/y' })).rejects.toThrow(
    'You must specify an egg for this editable',
  )
  await ask(pip.install, { editable: ['/srv/app', 'git+https://x/y#egg=y'], find_links: [folder] })
  expect(await lastRun()).toBe(
    `install --find-links ${folder} --editable /srv/app --editable git+https://x/y#egg=y`,
  )
})

test('pip reports the error if the program fails or is missing', async () => {
  await pipThat('ERROR: broken', 1)
  await expect(ask(pip.freeze)).rejects.toThrow('ERROR: broken')
  await expect(ask(pip.freeze, { bin_env: folder })).rejects.toThrow(
    'Could not find a pip binary in virtualenv',
  )
})

test('pip shows no password of an index or proxy in its arguments', async () => {
  const secret = 'http://ann:secret@example.com'
  await writeFile(bin_env, `#!/bin/sh\necho "$*" >> ${folder}/log\nenv | grep ^PIP_ > ${folder}/env\n`)
  await chmod(bin_env, 0o755)
  await ask(pip.install, { pkgs: 'a', index_url: secret, extra_index_url: secret, proxy: secret })
  await ask(pip.list_all_versions, { pkg: 'a', index_url: secret })
  await ask(pip.uninstall, { pkgs: 'a', proxy: secret })
  expect(await readFile(join(folder, 'log'), 'utf8')).toBe('install a\nindex versions a\nuninstall -y a\n')
  expect(await readFile(join(folder, 'env'), 'utf8')).toContain(`PIP_PROXY=${secret}`)
  await expect(ask(pip.list_all_versions, { pkg: '--log=/x' })).rejects.toThrow('is an option of pip')
})

test('pip runs no module that was placed into the working directory', {
  ...needs(program('python3')),
  ...SLOW,
}, async () => {
  await mkdir(join(folder, 'pip'))
  await writeFile(join(folder, 'pip', '__init__.py'), '')
  await writeFile(join(folder, 'pip', '__main__.py'), `open('${folder}/ran', 'w')`)
  await writeFile(join(folder, 'runpy.py'), `open('${folder}/ran', 'w')`)
  const python = (await which('python3')) ?? ''
  await call(pip.version, { bin_env: python, cwd: folder }, fakeContext()).catch(() => undefined)
  await expect(readFile(join(folder, 'ran'))).rejects.toThrow('ENOENT')
})

test('pip reads the output of freeze: versions, and editable packages by their address (a stand-in for pip)', async () => {
  await pipThat('# comment\nsix==1.16\nodd===2\n-e git+https://x/y@abc#egg=own\n-f https://x\n')
  expect(await ask(pip.list_freeze_parse)).toEqual({ six: '1.16', odd: '2', own: 'git+https://x/y@abc' })
  expect(await ask(pip.list_freeze_parse, { prefix: 'S' })).toEqual({ six: '1.16' })
})

test('pip upgrades each package that has a later version, and returns the changes (a stand-in for pip)', async () => {
  const listed = (version: string) => `[{"name": "six", "version": "${version}"}]`
  const outdated = '[{"name": "six", "version": "1", "latest_version": "2", "latest_filetype": "wheel"}]'
  const script = `case "$*" in *--outdated*) echo '${outdated}';; list*) if [ -e ${folder}/new ]; then echo '${listed('2')}'; else echo '${listed('1')}'; fi;; install*) echo "$*" > ${folder}/new;; esac`
  await writeFile(bin_env, `#!/bin/sh\n${script}\n`)
  await chmod(bin_env, 0o755)
  expect(await ask(pip.upgrade)).toEqual({
    changes: { six: { old: '1', new: '2' } },
    result: true,
    comment: '',
  })
  expect((await readFile(join(folder, 'new'), 'utf8')).trim()).toBe('install -U six')
})
