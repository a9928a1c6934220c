import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as pip from '../../../modules/pip.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
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

test('lists packages, also by a prefix (a stand-in for pip)', async () => {
  await pipThat('[{"name": "Jinja2", "version": "3.1.2"}, {"name": "pip", "version": "23.0"}]')
  expect(await ask(pip.list)).toEqual({ Jinja2: '3.1.2', pip: '23.0' })
  expect(await ask(pip.list, { prefix: 'jin' })).toEqual({ Jinja2: '3.1.2' })
  expect(await ask(pip.is_installed, { pkgname: 'jinja2' })).toBe(true)
})

test('lists upgrades and versions (a stand-in for pip)', async () => {
  await pipThat('[{"name": "pip", "version": "1", "latest_version": "2", "latest_filetype": "wheel"}]')
  expect(await ask(pip.list_upgrades)).toEqual({ pip: '2 [wheel]' })
  expect(await ask(pip.upgrade_available, { pkg: 'six' })).toBe(false)
  await pipThat('six (1.2)\nAvailable versions: 1.2, 1.2rc1, 1.1')
  expect(await ask(pip.list_all_versions, { pkg: 'six' })).toEqual(['1.1', '1.2'])
  await pipThat('pip 23.0.1 from /usr/lib (python 3.11)')
  expect(await ask(pip.version)).toBe('23.0.1')
})

test('installs and uninstalls what is named, with extras and version ranges', async () => {
  await pipThat('done')
  expect(await ask(pip.install, { pkgs: 'a[x,y]>=1,<2,b', upgrade: true })).toMatchObject({
    retcode: 0,
    stdout: 'done',
  })
  expect(await lastRun()).toBe('install --upgrade a[x,y]>=1,<2 b')
  await ask(pip.uninstall, { pkgs: ['a', 'b'] })
  expect(await lastRun()).toBe('uninstall -y a b')
  await expect(ask(pip.install, { pkgs: ['--index-url=x'] })).rejects.toThrow('is an option of pip')
  await expect(ask(pip.install)).rejects.toThrow('Name something to install')
})

test('says what is wrong if pip fails or is missing', async () => {
  await pipThat('ERROR: broken', 1)
  await expect(ask(pip.freeze)).rejects.toThrow('ERROR: broken')
  await expect(ask(pip.freeze, { bin_env: folder })).rejects.toThrow(
    'Could not find a `pip` binary in virtualenv',
  )
})
