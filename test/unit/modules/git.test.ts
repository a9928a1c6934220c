import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { changeVariable } from '../../../modules/_environ/job-environment.ts'
import { withLogin } from '../../../modules/_git/address.ts'
import { readFetch, readStatus } from '../../../modules/_git/parse.ts'
import * as git from '../../../modules/git.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { commandContext } from './commands.ts'
import { type AnyFn, call } from './context.ts'

let folder: string
let repo: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-git-')
  repo = join(folder, 'repo')
  vi.stubEnv('HOME', folder)
  await mkdir(repo)
  inRepo('-c', 'init.defaultBranch=master', 'init', '-q')
  inRepo('config', 'user.name', 'n')
  inRepo('config', 'user.email', 'e@example.com')
  await writeFile(join(repo, 'a'), '1\n')
  inRepo('add', 'a')
  inRepo('commit', '-qm', 'one')
  inRepo('tag', 'v1')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(folder)
})

const inRepo = (...words: string[]) => execFileSync('git', words, { cwd: repo, encoding: 'utf8' }).trim()
const ask = (fn: AnyFn, given: object = {}, of = commandContext()) => call(fn, { cwd: repo, ...given }, of)
const at = (name: string) => join(folder, name)
const edit = (name: string, text: string) => writeFile(join(repo, name), text)

test('version is that of git', async () => {
  const version = (await call(git.version, {}, commandContext())) as string
  expect(inRepo('--version')).toContain(version)
  const parts = await call(git.version, { versioninfo: true }, commandContext())
  expect(parts).toEqual(version.split('.').map(Number))
  expect(await git.virtual({} as never)).toBe(true)
})

describe('Changes', () => {
  test('status names the files by their state, also those with spaces and those that were renamed', async () => {
    await edit('a', '2\n')
    await edit('new file', '')
    await edit('s', '')
    inRepo('add', 's')
    expect(await ask(git.status)).toEqual({ modified: ['a'], new: ['s'], untracked: ['new file'] })
    expect(readStatus('R  to\0from with space\0 D x\0UU y\0')).toEqual({
      R: ['to'],
      deleted: ['x'],
      UU: ['y'],
    })
  })

  test('are staged, committed, and described', SLOW, async () => {
    await edit('b', 'text\n')
    expect(await ask(git.add, { filename: 'b', opts: '-v' })).toBe("add 'b'")
    expect(await ask(git.diff, { cached: true })).toContain('+text')
    expect(await ask(git.commit, { message: 'the second' })).toContain('the second')
    expect(await ask(git.describe)).toMatch(/^[\da-f]{7,}$/)
    expect(await ask(git.revision)).toBe(inRepo('rev-parse', 'HEAD'))
    expect(await ask(git.revision, { rev: 'v1', short: true })).toBe(inRepo('rev-parse', '--short', 'v1'))
    expect(await ask(git.rev_parse, { opts: ['--is-bare-repository'] })).toBe('false')
    expect(await ask(git.diff, { item1: 'v1', item2: 'HEAD', paths: 'b,c', opts: '--stat' })).toContain(
      'b | 1 +',
    )
  })

  test('are discarded, put aside, reset and removed', async () => {
    await edit('a', '2\n')
    await ask(git.discard_local_changes, { path: 'a' })
    expect(await readFile(join(repo, 'a'), 'utf8')).toBe('1\n')
    await edit('a', '3\n')
    expect(await ask(git.stash)).toContain('Saved working directory')
    expect(await ask(git.stash, { action: 'pop' })).toContain('Dropped')
    expect(await ask(git.reset, { opts: '--hard' })).toContain('HEAD is now at')
    expect(await ask(git.rm, { filename: 'a' })).toBe("rm 'a'")
  })

  test('between files without a repository are shown, and do not fail', async () => {
    await writeFile(at('x'), '1\n')
    await writeFile(at('y'), '2\n')
    const context = commandContext()
    const given = { cwd: folder, no_index: true, paths: [at('x'), at('y')], item1: 'HEAD' }
    expect(await ask(git.diff, given, context)).toContain('+2')
    expect(context.retcode).toBe(0)
    expect(context.lines.map(({ message }) => message)).toContain("Revision 'HEAD' ignored in git diff")
    await expect(ask(git.diff, { no_index: true, cached: true })).rejects.toThrow('cannot be used together')
  })
})

describe('Branches and tags', () => {
  test('are made, listed, checked out and removed', SLOW, async () => {
    expect(await ask(git.branch, { name: 'side' })).toBe(true)
    expect(await ask(git.list_branches)).toEqual(['master', 'side'])
    expect(await ask(git.checkout, { rev: 'side' })).toBe("Switched to branch 'side'")
    expect(await ask(git.current_branch)).toBe('side')
    expect(await ask(git.checkout, { opts: '-b third' })).toContain("'third'")
    expect(await ask(git.tag, { name: 'v2', message: 'the release' })).toBe('')
    expect(inRepo('cat-file', '-p', 'v2')).toContain('the release')
    expect(await ask(git.list_tags)).toEqual(['v1', 'v2'])
    expect(await ask(git.tag, { name: 'v2', opts: '-d' })).toContain("Deleted tag 'v2'")
    expect(await ask(git.symbolic_ref, { ref: 'HEAD' })).toBe('refs/heads/third')
    await ask(git.symbolic_ref, { ref: 'FOO', value: 'refs/heads/side' })
    expect(inRepo('symbolic-ref', 'FOO')).toBe('refs/heads/side')
  })

  test('are merged and compared', SLOW, async () => {
    inRepo('checkout', '-qb', 'feat')
    await edit('f', '')
    inRepo('add', 'f')
    inRepo('commit', '-qm', 'f')
    inRepo('checkout', '-q', 'master')
    const base = inRepo('rev-parse', 'v1')
    expect(await ask(git.merge_base, { refs: 'master, feat' })).toBe(base)
    expect(await ask(git.merge_base, { refs: ['master', 'feat'], all: true })).toEqual([base])
    expect(await ask(git.merge_base, { refs: 'feat,master', is_ancestor: true })).toBe(false)
    expect(await ask(git.merge, { rev: 'feat' })).toContain('Fast-forward')
    expect(await ask(git.rebase, { rev: 'feat' })).toContain('up to date')
  })

  test.each([
    [git.checkout, {}, "'rev' argument is required unless -b or -B in opts"],
    [git.rebase, { opts: '-i' }, 'Interactive rebases are not supported'],
    [git.tag, { name: 'x', opts: '-m y' }, 'Tag messages must be passed in the "message" argument'],
    [git.symbolic_ref, { ref: 'x', value: 'y', opts: '-d' }, 'Value cannot be set for symbolic ref'],
    [git.merge_base, { refs: 'a', is_ancestor: true }, 'Two refs/commits are required'],
    [git.merge_base, { octopus: true, independent: true }, "Only one of 'octopus'"],
    [git.merge_base, { all: true, independent: true }, "The 'all' argument is not compatible"],
    [git.merge_base, { refs: 'a,b', fork_point: 'c' }, 'At most one ref/commit'],
    [git.clone, {}, "Missing 'url' argument"],
    [git.revision, { rev: 'nope' }, "Command 'git rev-parse nope' failed: fatal: ambiguous argument"],
  ])('with invalid arguments are refused (%#)', async (fn, given, reason) => {
    await expect(ask(fn, given)).rejects.toThrow(reason)
  })
})

describe('Remotes', () => {
  test('are cloned, fetched, pulled and pushed', SLOW, async () => {
    const clone = { cwd: at('clone') }
    expect(await ask(git.clone, { ...clone, url: repo })).toBe(true)
    expect(await ask(git.clone, { cwd: at('new'), name: 'inner', url: repo })).toBe(true)
    expect(existsSync(at('new/inner/a'))).toBe(true)
    inRepo('checkout', '-qb', 'feat')
    await edit('f', '')
    inRepo('add', 'f')
    inRepo('commit', '-qm', 'f')
    inRepo('tag', 'v2')
    expect(await ask(git.fetch, clone)).toEqual({ 'new branches': ['feat'], 'new tags': ['v2'] })
    expect(await ask(git.list_branches, { ...clone, remote: true })).toContain('origin/feat')
    expect(await ask(git.pull, { ...clone, opts: 'origin feat' })).toContain('Fast-forward')
    await ask(git.push, { ...clone, remote: 'origin', ref: 'HEAD:refs/heads/pushed' })
    expect(inRepo('rev-parse', 'pushed')).toBe(inRepo('rev-parse', 'feat'))
    expect(await ask(git.ls_remote, { ...clone, ref: 'v2' })).toEqual({
      'refs/tags/v2': inRepo('rev-parse', 'v2'),
    })
    const refs = await call(git.remote_refs, { url: repo, heads: true }, commandContext())
    expect(refs).toHaveProperty('refs/heads/master', inRepo('rev-parse', 'master'))
  })

  test('have the output of fetch parsed (recorded)', () => {
    const said =
      ' * [new branch]      feat       -> origin/feat\n   1a2b..3c4d  master     -> origin/master\n t [tag update]      v1         -> v1\n'
    expect(readFetch(said.replace(' t [', ' * ['))).toEqual({
      'new branches': ['feat'],
      'updated branches': { master: { old: '1a2b', new: '3c4d' } },
      'updated tags': ['v1'],
    })
  })

  test('are set and shown without passwords', SLOW, async () => {
    const set = { url: 'https://h.example/x', https_user: 'me', https_pass: 'p@ss', push_url: '/srv/x' }
    const shown = { fetch: 'https://<redacted>@h.example/x', push: '/srv/x' }
    expect(await ask(git.remote_set, set)).toEqual(shown)
    expect(inRepo('remote', 'get-url', 'origin')).toBe('https://me:p%40ss@h.example/x')
    expect(await ask(git.remote_set, { ...set, push_url: '/srv/y' })).toMatchObject({ push: '/srv/y' })
    expect(await ask(git.remotes, { redact_auth: false })).toMatchObject({
      origin: { fetch: 'https://me:p%40ss@h.example/x' },
    })
    await expect(ask(git.remote_get, { remote: 'none' })).rejects.toThrow(
      `Remote 'none' not present in git checkout located at ${repo}`,
    )
    expect(() => withLogin('http://h/x', 'me', 'pw')).toThrow('Basic Auth only supported for HTTPS')
  })

  test('use keys in turn, and missing keys are named', SLOW, async () => {
    await writeFile(at('key'), '', { mode: 0o600 })
    const clone = { url: repo, cwd: at('c') }
    const context = commandContext()
    expect(await ask(git.clone, { ...clone, identity: [at('none'), at('key')] }, context)).toBe(true)
    expect(context.lines).toContainEqual({
      level: 'error',
      message: `identity ${at('none')} does not exist.`,
    })
    await expect(ask(git.clone, { ...clone, identity: at('none') })).rejects.toThrow(
      `The following identity file(s) were not found: ${at('none')}`,
    )
    const fetched = commandContext({ 'cp.cache_file': () => at('key') })
    expect(await ask(git.fetch, { cwd: at('c'), identity: 'salt://key' }, fetched)).toEqual({})
    await expect(ask(git.fetch, { cwd: repo, remote: '/none', identity: at('key') })).rejects.toThrow(
      /Unable to authenticate using identity file:\n\n.*\/none/s,
    )
  })
})

describe('Configuration', () => {
  test('is read, set and unset', SLOW, async () => {
    expect(await ask(git.config_get, { key: 'user.name' })).toBe('n')
    expect(await ask(git.config_get, { key: 'no.such' })).toBeNull()
    expect(await ask(git.config_set, { key: 'a.b', multivar: 'x,y' })).toEqual(['x', 'y'])
    expect(await ask(git.config_set, { key: 'a.b', value: 'z', add: true })).toEqual(['x', 'y', 'z'])
    expect(await ask(git.config_get, { key: 'a.b', all: true })).toEqual(['x', 'y', 'z'])
    expect(await ask(git.config_get_regexp, { key: 'a.*', value_regex: '[yz]' })).toEqual({
      'a.b': ['y', 'z'],
    })
    expect(await ask(git.config_get_regex, { key: 'none' })).toEqual({})
    await expect(ask(git.config_unset, { key: 'a.b' })).rejects.toThrow("Multiple values exist for key 'a.b'")
    expect(await ask(git.config_unset, { key: 'a.b', all: true })).toBe(true)
    await expect(ask(git.config_unset, { key: 'a.b' })).rejects.toThrow("Key 'a.b' does not exist")
    await expect(ask(git.config_unset, { key: 'bad' })).rejects.toThrow("Failed to unset key 'bad'")
  })

  test('of the user needs no folder', async () => {
    const given = { key: 'user.email', value: 'me@example.com', global: true }
    expect(await call(git.config_set, given, commandContext())).toEqual(['me@example.com'])
    expect(await readFile(at('.gitconfig'), 'utf8')).toContain('me@example.com')
    await expect(call(git.config_get, { key: 'a.b' }, commandContext())).rejects.toThrow(
      "'cwd' argument required unless global=True",
    )
    await expect(ask(git.config_set, { key: 'a.b', value: 'x', multivar: 'y' })).rejects.toThrow(
      'Only one of',
    )
    await expect(ask(git.config_set, { key: 'a.b' })).rejects.toThrow("Give the new value as 'value'")
  })
})

describe('Folders', () => {
  test('of repositories are made', async () => {
    expect(await ask(git.init, { cwd: at('bare'), bare: true, shared: '664' })).toContain('Initialized empty')
    expect(await readFile(at('bare/config'), 'utf8')).toContain('bare = true')
  })

  test('of worktrees are made, listed, removed and forgotten', SLOW, async () => {
    const tree = at('hotfix')
    expect(await ask(git.worktree_add, { worktree_path: tree })).toContain("new branch 'hotfix'")
    await ask(git.worktree_add, { worktree_path: at('loose'), detach: true })
    const HEAD = inRepo('rev-parse', 'HEAD')
    const listed = { stale: false, HEAD, detached: false }
    expect(await ask(git.list_worktrees)).toEqual({
      [repo]: { ...listed, branch: 'master' },
      [tree]: { ...listed, branch: 'hotfix' },
      [at('loose')]: { ...listed, detached: true, branch: null, tags: ['v1'] },
    })
    expect(await ask(git.is_worktree, { cwd: tree })).toBe(true)
    expect(await ask(git.is_worktree)).toBe(false)
    await rm(at('loose'), { recursive: true })
    expect(Object.keys((await ask(git.list_worktrees, { stale: true })) as object)).toEqual([at('loose')])
    expect(await ask(git.worktree_rm, { cwd: tree })).toBe(true)
    expect(await ask(git.worktree_prune)).toContain('Removing worktrees/hotfix')
    await expect(ask(git.worktree_rm, { cwd: tree })).rejects.toThrow('does not exist')
    await expect(ask(git.worktree_rm)).rejects.toThrow('is not a git worktree')
  })

  test('are archived, and hold submodules', SLOW, async () => {
    expect(await ask(git.archive, { output: at('x.tar') })).toBe(true)
    expect(execFileSync('tar', ['tf', at('x.tar')], { encoding: 'utf8' })).toBe('repo/\nrepo/a\n')
    expect(await ask(git.submodule, { command: 'status' })).toBe('')
  })
})

describe('Words that are options', () => {
  const option = () => `--upload-pack=touch ${at('ran')};false`
  test.each([
    [git.remote_refs, () => ({ cwd: undefined, url: option(), filter: repo })],
    [git.ls_remote, () => ({ remote: option(), ref: repo })],
    [git.fetch, () => ({ remote: option(), refspecs: repo })],
    [git.diff, () => ({ item1: `--output=${at('ran')}` })],
    [git.archive, () => ({ output: at('x.tar'), rev: `--output=${at('ran')}` })],
    [git.describe, () => ({ rev: '--exec-path=x' })],
    [git.revision, () => ({ rev: '--git-dir' })],
    [git.config_get, () => ({ key: '--list' })],
    [git.config_set, () => ({ key: `--file=${at('ran')}`, value: 'a.b' })],
    [git.remote_set, () => ({ url: 'x', remote: '--mirror=push' })],
    [git.branch, () => ({ name: '-D' })],
    [git.tag, () => ({ name: '-d' })],
    [git.rebase, () => ({ rev: '--exec=id' })],
  ])('are refused where a name, revision or URL belongs', async (fn, given) => {
    const { cwd = repo, ...rest } = given() as Record<string, unknown>
    const place = 'cwd' in given() ? {} : { cwd }
    await expect(call(fn as AnyFn, { ...place, ...rest }, commandContext())).rejects.toThrow(
      'would be an option of git',
    )
    expect(existsSync(at('ran'))).toBe(false)
  })
})

test('variables of the job are passed to git', async () => {
  const context = commandContext()
  changeVariable('GIT_DIR', join(repo, '.git'), context)
  expect(await ask(git.current_branch, { cwd: folder }, context)).toBe('master')
})

test('a folder that does not exist is no worktree', async () => {
  expect(await ask(git.is_worktree, { cwd: at('none') })).toBe(false)
})

test('merge_tree shows what a merge would change, and changes nothing', async () => {
  inRepo('checkout', '-qb', 'side')
  await edit('b', '2\n')
  inRepo('add', 'b')
  inRepo('commit', '-qm', 'two')
  inRepo('checkout', '-q', 'master')
  expect(await ask(git.merge_tree, { ref1: 'master', ref2: 'side' })).toContain('added in remote')
  expect(existsSync(join(repo, 'b'))).toBe(false)
  await expect(ask(git.merge_tree, { ref1: 'master', ref2: 'none' })).rejects.toThrow(
    'Unable to determine merge base for master and none',
  )
  await expect(ask(git.merge_tree, { ref1: 'master', ref2: '--help' })).rejects.toThrow('--help')
})
