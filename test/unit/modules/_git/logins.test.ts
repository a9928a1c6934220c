import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { addressOf, redacted } from '../../../../modules/_git/address.ts'
import * as git from '../../../../modules/git.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { commandContext } from '../commands.ts'
import { type AnyFn, call } from '../context.ts'
import { type GitServer, gitServer } from './git-server.ts'

const PASSWORD = 'p@s"s\\w%or/d'
let folder: string
let server: GitServer
let checkout: string
let clones = 0
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-git-logins-')
  vi.stubEnv('HOME', folder)
  vi.stubEnv('GIT_SSL_NO_VERIFY', '1')
  for (const [name, value] of Object.entries({ NAME: 'n', EMAIL: 'e@example.com' })) {
    vi.stubEnv(`GIT_AUTHOR_${name}`, value)
    vi.stubEnv(`GIT_COMMITTER_${name}`, value)
  }
  const seed = join(folder, 'seed')
  await mkdir(seed)
  inFolder(seed, '-c', 'init.defaultBranch=master', 'init', '-q')
  inFolder(seed, 'commit', '-qm', 'one', '--allow-empty')
  inFolder(folder, 'clone', '-q', '--bare', seed, 'repo.git')
  inFolder(folder, '-C', 'repo.git', 'config', 'http.receivepack', 'true')
  server = await gitServer(folder, { me: PASSWORD, writer: 'write-it' })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await server.close()
  await removeFolder(folder)
})
beforeEach(() => {
  clones++
  checkout = join(folder, `clone${clones}`)
})

const inFolder = (cwd: string, ...words: string[]) =>
  execFileSync('git', words, { cwd, encoding: 'utf8' }).trim()
const ask = (fn: AnyFn, given: object = {}, of = commandContext()) =>
  call(fn, { cwd: checkout, ...given }, of)
const login = { https_user: 'me', https_pass: PASSWORD }
const url = () => `${server.url}repo.git`

describe('The password of a repository', () => {
  test('is no argument of any process, and is used by clone, fetch and push', SLOW, async () => {
    expect(await ask(git.clone, { url: url(), ...login })).toBe(true)
    expect(await ask(git.fetch)).toEqual({})
    await ask(git.push, { remote: 'origin', ref: 'HEAD:refs/heads/pushed' })
    expect(await ask(git.ls_remote)).toHaveProperty('refs/heads/pushed')
    expect(await ask(git.pull)).toContain('up to date')
    expect(await call(git.remote_refs, { url: url(), ...login }, commandContext())).toHaveProperty('HEAD')
    expect(new Set(server.users)).toEqual(new Set(['me']))
    expect(server.seen).toEqual([])
  })

  test('is in the URL that the clone keeps, as Salt does it', SLOW, async () => {
    await ask(git.clone, { url: url(), ...login, opts: '--origin up' })
    const kept = inFolder(checkout, 'config', '--get-all', 'remote.up.url')
    expect(kept).toBe(addressOf(url(), 'me', PASSWORD).whole)
    expect(await ask(git.remote_get, { remote: 'up' })).toMatchObject({
      fetch: url().replace('https://', 'https://<redacted>@'),
    })
  })

  test('can be in the URL itself', async () => {
    const { whole } = addressOf(url(), 'me', PASSWORD)
    expect(await ask(git.ls_remote, { cwd: undefined, remote: whole })).toHaveProperty('HEAD')
    expect(server.seen).toEqual([])
  })

  test('can differ for pushes to the same site', SLOW, async () => {
    await mkdir(checkout)
    await ask(git.init)
    const push = { push_url: url(), push_https_user: 'writer', push_https_pass: 'write-it' }
    await ask(git.remote_set, { url: url(), ...login, ...push })
    const before = server.users.length
    await ask(git.fetch, { remote: 'origin' })
    expect(new Set(server.users.slice(before))).toEqual(new Set(['me']))
    const then = server.users.length
    await ask(git.push, { remote: 'origin', ref: 'origin/master:refs/heads/other' })
    expect(new Set(server.users.slice(then))).toEqual(new Set(['writer']))
    expect(server.seen).toEqual([])
  })

  test('is not in the error after a refusal, nor in the log', SLOW, async () => {
    const context = commandContext()
    const wrong = ask(git.clone, { url: url(), https_user: 'me', https_pass: 'wr@ng-one' }, context)
    await expect(wrong).rejects.toThrow(/^(?!.*(wr@ng|wr%40ng)).*Authentication failed/s)
    await ask(git.clone, { url: url(), ...login })
    await ask(git.remotes, { redact_auth: false }, context)
    expect(JSON.stringify(context.lines)).not.toMatch(/wr@ng|wr%40ng|me:p/)
  })

  test('is not requested from a program that the user has configured', SLOW, async () => {
    await mkdir(join(folder, 'bin'))
    inFolder(folder, 'config', '--global', 'credential.helper', `!touch ${join(folder, 'asked')};false`)
    await ask(git.clone, { url: url(), ...login })
    expect(existsSync(join(folder, 'asked'))).toBe(false)
    expect(await readFile(join(folder, '.gitconfig'), 'utf8')).toContain('asked')
  })

  test('cannot contain a line break, which would end it for git', async () => {
    await expect(ask(git.clone, { url: 'https://me:a%0Ahost=evil@127.0.0.1/x' })).rejects.toThrow(
      'has a line break',
    )
  })
})

test.each([
  ['https://me:p@ss@host/x', 'https://<redacted>@host/x'],
  ["fatal: 'http://u@h/x' and ftps://a:b@h/y", "fatal: 'http://<redacted>@h/x' and ftps://<redacted>@h/y"],
  ['https://host/npm/@scope', 'https://host/npm/@scope'],
])('logins in %s are hidden, whatever characters they have', (text, shown) => {
  expect(redacted(text)).toBe(shown)
})
