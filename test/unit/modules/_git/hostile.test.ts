/** Malicious repositories and arguments that try to make git run a program. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as git from '../../../../modules/git.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { commandContext } from '../commands.ts'
import { type AnyFn, call } from '../context.ts'

let folder: string
let evil: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-git-hostile-')
  vi.stubEnv('HOME', folder)
  evil = at('evil')
  await mkdir(evil)
  inEvil('-c', 'init.defaultBranch=master', 'init', '-q')
  inEvil('config', 'user.name', 'n')
  inEvil('config', 'user.email', 'e@example.com')
  inEvil('commit', '-qm', 'one', '--allow-empty')
  await writeFile(at('payload'), `#!/bin/sh\ntouch ${at('ran')}\n`)
  await chmod(at('payload'), 0o755)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const at = (name: string) => join(folder, name)
const inEvil = (...words: string[]) => execFileSync('git', words, { cwd: evil, encoding: 'utf8' }).trim()
const ask = (fn: AnyFn, given: object) =>
  call(fn, given as Record<string, unknown>, commandContext()).catch((cause: Error) => cause.message)

/** Commit a folder with the files of a bare repository, whose configuration names a program. */
async function plantBareRepository(): Promise<void> {
  for (const name of ['objects', 'refs']) {
    await mkdir(join(evil, 'docs', name), { recursive: true })
    await writeFile(join(evil, 'docs', name, 'keep'), '')
  }
  await writeFile(join(evil, 'docs/HEAD'), 'ref: refs/heads/master\n')
  const config = `[core]\n\tbare = false\n\tworktree = ${folder}\n\tfsmonitor = ${at('payload')}\n`
  await writeFile(join(evil, 'docs/config'), config)
  inEvil('add', '.')
  inEvil('commit', '-qm', 'docs')
}

test.each([git.status, git.discard_local_changes])(
  'a folder of a checkout that resembles a bare repository runs no program',
  SLOW,
  async (fn) => {
    await plantBareRepository()
    expect(await ask(git.clone, { cwd: at('clone'), url: evil })).toBe(true)
    expect(await ask(fn, { cwd: at('clone/docs') })).toContain('safe.bareRepository')
    expect(existsSync(at('ran'))).toBe(false)
  },
)

test('a real bare repository, and the folder of a submodule, are read as usual', SLOW, async () => {
  inEvil('clone', '-q', '--bare', '.', at('bare.git'))
  expect(await ask(git.list_branches, { cwd: at('bare.git') })).toEqual(['master'])
  expect(await ask(git.config_get, { cwd: join(evil, '.git'), key: 'user.name' })).toBe('n')
})

test('a submodule, a URL or a remote of the transport `ext` runs no program', SLOW, async () => {
  const url = `ext::${at('payload')}`
  await writeFile(join(evil, '.gitmodules'), `[submodule "x"]\n\tpath = x\n\turl = ${url}\n`)
  inEvil('add', '.gitmodules')
  inEvil('update-index', '--add', '--cacheinfo', `160000,${inEvil('rev-parse', 'HEAD')},x`)
  inEvil('commit', '-qm', 'x')
  const refused = "transport 'ext' not allowed"
  expect(await ask(git.clone, { cwd: at('c1'), url, opts: '' })).toContain(refused)
  expect(await ask(git.clone, { cwd: at('c2'), url: evil, opts: '--recurse-submodules' })).toContain(refused)
  expect(await ask(git.submodule, { cwd: at('c2'), command: 'update', opts: '--init' })).toContain(refused)
  expect(await ask(git.remote_refs, { url })).toContain(refused)
  expect(await ask(git.fetch, { cwd: evil, remote: url })).toContain(refused)
  expect(existsSync(at('ran'))).toBe(false)
})

test('a submodule whose URL or path is an option runs no program', SLOW, async () => {
  const modules = `[submodule "x"]\n\tpath = -x\n\turl = -u./payload\n`
  await writeFile(join(evil, '.gitmodules'), modules)
  inEvil('add', '.gitmodules')
  inEvil('update-index', '--add', '--cacheinfo', `160000,${inEvil('rev-parse', 'HEAD')},-x`)
  inEvil('commit', '-qm', 'x')
  await ask(git.clone, { cwd: at('c'), url: evil, opts: '--recurse-submodules' })
  await ask(git.submodule, { cwd: at('c'), command: 'update', opts: '--init' })
  expect(existsSync(at('ran'))).toBe(false)
})

test('hooks of the repository are not cloned', SLOW, async () => {
  for (const hook of ['post-checkout', 'post-merge', 'reference-transaction'])
    await writeFile(join(evil, '.git/hooks', hook), `#!/bin/sh\ntouch ${at('ran')}\n`, { mode: 0o755 })
  await ask(git.clone, { cwd: at('c'), url: evil })
  await ask(git.pull, { cwd: at('c') })
  expect(existsSync(at('ran'))).toBe(false)
})

test('a link in a repository leads no file out of the checkout', SLOW, async () => {
  await mkdir(at('outside'))
  const link = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: evil, input: at('outside') })
  const file = execFileSync('git', ['hash-object', '-w', '--stdin'], { cwd: evil, input: 'x' })
  inEvil('update-index', '--add', '--cacheinfo', `120000,${String(link).trim()},d`)
  inEvil('commit', '-qm', 'link')
  await ask(git.clone, { cwd: at('c'), url: evil })
  inEvil('rm', '-q', '--cached', 'd')
  inEvil('update-index', '--add', '--cacheinfo', `100644,${String(file).trim()},d/owned`)
  inEvil('commit', '-qm', 'file')
  await ask(git.pull, { cwd: at('c') })
  expect(existsSync(at('c/d/owned'))).toBe(true)
  expect(existsSync(at('outside/owned'))).toBe(false)
})

test.each([
  [git.config_set, { key: 'a.b', value: '--file=x' }],
  [git.config_get_regexp, { key: 'a.b', value_regex: '--global' }],
])('a value that begins with a dash is no option (%#)', SLOW, async (fn, given) => {
  await ask(git.config_set, { cwd: evil, key: 'a.b', value: '--global' })
  const value = (given as { value?: string }).value ?? '--global'
  expect(JSON.stringify(await ask(fn as AnyFn, { cwd: evil, ...given }))).toContain(value)
})

test('names of branches and files that look like options stay names', SLOW, async () => {
  inEvil('update-ref', 'refs/heads/--upload-pack=touch', 'HEAD')
  await writeFile(join(evil, '--exec=x'), '')
  expect(await ask(git.list_branches, { cwd: evil })).toEqual(['--upload-pack=touch', 'master'])
  expect(await ask(git.add, { cwd: evil, filename: '--exec=x' })).toContain('--exec=x')
  expect(await ask(git.clone, { cwd: at('c'), url: evil })).toBe(true)
  expect(await ask(git.fetch, { cwd: at('c') })).toEqual({})
})
