/**
 * Work with git repositories.
 *
 * `cwd` is the folder of a checkout; a relative one is below the home of the user who runs git: `user`, or else the minion.
 * `opts` are further options of the git command, `git_opts` those of git itself, such as `-c user.name=deploy`. `identity`
 * is an SSH key, or a list of keys that are tried in turn: paths, or salt:// URLs.
 */

import { mkdir } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { linesOf } from './_cmd/lines.ts'
import { which } from './_cmd/which.ts'
import { addressOf, redacted } from './_git/address.ts'
import { readValues, setValues, unsetValues, valuesOf } from './_git/config.ts'
import { storeCloned, storeUrl } from './_git/logins.ts'
import { readConfig, readFetch, readRefs, readRemotes, readStatus } from './_git/parse.ts'
import {
  authenticated,
  type Caller,
  caller,
  expandPath,
  git,
  identity,
  noOption,
  optioned,
  optionWords,
  opts as optsParam,
  saltenv,
  tryGit,
} from './_git/run.ts'
import { isWorktree, listWorktrees, removeWorktree } from './_git/worktrees.ts'

/** Available where git is installed. */
export const virtual: Virtual = async () =>
  (await which('git')) !== null || 'The git execution module cannot be loaded: git unavailable.'

const cwd = p.string()
const text = p.optional(p.string())
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const names = p.optional(p.union(p.string(), p.array(p.any())))
const login = { https_user: text, https_pass: p.secret(text) }
const place = { cwd: text, ...caller, global: flag(false) }

/**
 * Stage a file, a folder or a pattern.
 *
 * @example salt '*' git.add /path/to/repo foo/bar.py
 * @example salt '*' git.add /path/to/repo foo/bar.py opts='--dry-run'
 */
export const add = fn(
  { cwd, filename: p.string(), ...optioned },
  async ({ cwd, filename, opts, git_opts, ...how }, context) =>
    run(
      [
        ...optionWords(git_opts),
        'add',
        '--verbose',
        ...optionWords(opts).filter((word) => word !== '-v' && word !== '--verbose'),
        '--',
        filename,
      ],
      cwd,
      how,
      context,
    ),
)

/**
 * Write an archive of a revision to a file. Names in it begin with `prefix`: by default the name of the folder; nothing if it is empty.
 *
 * @example salt '*' git.archive /path/to/repo /path/to/archive.tar
 * @example salt '*' git.archive /path/to/repo /path/to/archive.zip rev=v1.0 prefix='' format=zip
 */
export const archive = fn(
  {
    cwd,
    output: p.string(),
    rev: p.default(p.string(), 'HEAD'),
    prefix: text,
    git_opts: optsParam,
    ...caller,
    format: text,
  },
  async ({ cwd, output, rev, prefix, git_opts, format, ...how }, context) => {
    const folder = await expandPath(cwd, how.user)
    const target = await expandPath(output, how.user)
    const before = prefix ?? `${basename(folder)}/`
    const words = [
      ...optionWords(git_opts),
      'archive',
      ...(before === '' ? [] : ['--prefix', before]),
      ...(format === undefined ? [] : ['--format', format]),
      ...['--output', target, noOption(rev)],
    ]
    await run(words, folder, how, context)
    return true
  },
)

/**
 * Make, rename or remove a branch, by `opts`.
 *
 * @example salt '*' git.branch /path/to/repo newbranch
 * @example salt '*' git.branch /path/to/repo newbranch opts='--track origin/newbranch'
 * @example salt '*' git.branch /path/to/repo opts='-m old new'
 */
export const branch = fn(
  { cwd, name: text, ...optioned },
  async ({ cwd, name, opts, git_opts, ...how }, context) => {
    await run([...optionWords(git_opts), 'branch', ...optionWords(opts), ...present(name)], cwd, how, context)
    return true
  },
)

/**
 * Check out a revision, and return what git says.
 *
 * @example salt '*' git.checkout /path/to/repo somebranch user=jeff
 * @example salt '*' git.checkout /path/to/repo opts='-b newbranch'
 */
export const checkout = fn(
  { cwd, rev: text, force: flag(false), ...optioned },
  async ({ cwd, rev, force, opts, git_opts, ...how }, context) => {
    const options = optionWords(opts)
    if (rev === undefined && !options.includes('-b') && !options.includes('-B'))
      throw new SaltInvocationError("'rev' argument is required unless -b or -B in opts")
    const words = ['checkout', ...(force ? ['--force'] : []), ...options, ...present(rev)]
    return run([...optionWords(git_opts), ...words], cwd, how, context, { merged: true })
  },
)

/**
 * Clone a repository into a folder: `cwd`, or `name` below it. `https_user` and `https_pass` become part of the URL in the configuration
 * of the clone, and so are used later. They are no arguments of git, which others on the host could see.
 *
 * @example salt '*' git.clone /path/to/repo_parent_dir git://github.com/saltstack/salt.git name=salt
 * @example salt '*' git.clone /path/to/repo https://github.com/saltstack/salt.git opts='--depth 1'
 */
export const clone = fn(
  {
    cwd,
    url: text,
    name: text,
    opts: optsParam,
    git_opts: optsParam,
    user: caller.user,
    password: caller.password,
    identity,
    ...login,
    ignore_retcode: caller.ignore_retcode,
    saltenv,
    output_encoding: caller.output_encoding,
  },
  async ({ cwd, url, name, opts, git_opts, https_user, https_pass, ...how }, context) => {
    if (!url) throw new SaltInvocationError("Missing 'url' argument")
    const folder = await expandPath(cwd, how.user)
    if (name !== undefined) await mkdir(folder, { recursive: true })
    const from = addressOf(url, https_user, https_pass)
    const words = [...optionWords(git_opts), 'clone', ...optionWords(opts), '--', from.url, name ?? folder]
    await git(words, { ...how, cwd: name === undefined ? '/' : folder, login: from.login }, context)
    const cloned = { cwd: resolve(folder, name ?? ''), user: how.user }
    if (from.login) await storeCloned(from.url, from.whole, cloned, context)
    return true
  },
)

/**
 * Commit what is staged, or one file.
 *
 * @example salt '*' git.commit /path/to/repo 'The commit message'
 * @example salt '*' git.commit /path/to/repo 'The commit message' filename=foo/bar.py
 */
export const commit = fn(
  {
    cwd,
    message: p.string(),
    opts: optsParam,
    git_opts: optsParam,
    user: caller.user,
    password: caller.password,
    filename: text,
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
  },
  async ({ cwd, message, filename, opts, git_opts, ...how }, context) =>
    run(
      [
        ...optionWords(git_opts),
        'commit',
        '-m',
        message,
        ...optionWords(opts),
        ...(filename ? ['--', filename] : []),
      ],
      cwd,
      how,
      context,
    ),
)

/**
 * Return the value of a key of the configuration, the last one if there are several, or all with `all`; null if it is not set.
 *
 * @example salt '*' git.config_get user.name cwd=/path/to/repo
 * @example salt '*' git.config_get user.email global=True
 * @example salt '*' git.config_get core.gitproxy cwd=/path/to/repo all=True
 */
export const config_get = fn(
  { key: p.string(), ...place, all: flag(false) },
  async ({ key, all, ...where }, context) => {
    const values = await valuesOf(key, where, context)
    if (values === undefined) return null
    return all ? values : (values.at(-1) ?? '')
  },
)

/**
 * Return lists of values by key, for all keys that match a pattern. With `value_regex` only values that match it.
 *
 * @example salt '*' git.config_get_regexp user.* cwd=/path/to/repo
 */
export const config_get_regexp = fn(
  { key: p.string(), value_regex: text, ...place },
  async ({ key, value_regex, ...where }, context) => {
    const { retcode, stdout } = await readValues(
      ['--get-regexp', noOption(key), ...(value_regex ? [value_regex] : [])],
      where,
      context,
    )
    return retcode === 1 ? {} : readConfig(stdout)
  },
)

/**
 * Return lists of values by key, as `git.config_get_regexp` does.
 *
 * @example salt '*' git.config_get_regex user.* cwd=/path/to/repo
 */
export const config_get_regex = fn(config_get_regexp.params, config_get_regexp.run)

/**
 * Set a key of the configuration to a value, or to several with `multivar`, and return all its values. With `add` the value is added to the others.
 *
 * @example salt '*' git.config_set user.email me@example.com cwd=/path/to/repo
 * @example salt '*' git.config_set user.email foo@bar.com global=True
 * @example salt '*' git.config_set core.gitproxy multivar='[proxy1, proxy2]' cwd=/path/to/repo
 */
export const config_set = fn(
  { key: p.string(), value: text, multivar: names, ...place, add: flag(false) },
  async ({ key, value, multivar, add, ...where }, context) => {
    if (value !== undefined && multivar !== undefined)
      throw new SaltInvocationError("Only one of 'value' and 'multivar' is permitted")
    if (value === undefined && multivar === undefined)
      throw new SaltInvocationError("Give the new value as 'value', or several as 'multivar'")
    const values = value === undefined ? listOf(multivar) : [value]
    return setValues(key, values, add && value !== undefined, where, context)
  },
)

/**
 * Remove a key of the configuration. If it has several values, `all` or a `value_regex` is needed.
 *
 * @example salt '*' git.config_unset user.name cwd=/path/to/repo
 * @example salt '*' git.config_unset core.gitproxy cwd=/path/to/repo all=True
 */
export const config_unset = fn(
  { key: p.string(), value_regex: text, ...place, all: flag(false) },
  ({ key, value_regex, all, ...where }, context) => unsetValues(key, value_regex, all, where, context),
)

/**
 * Return the name of the branch that is checked out; `HEAD` if it is none.
 *
 * @example salt '*' git.current_branch /path/to/repo
 */
export const current_branch = fn({ cwd, ...caller }, async ({ cwd, ...how }, context) =>
  run(['rev-parse', '--abbrev-ref', 'HEAD'], cwd, how, context),
)

/**
 * Describe a revision by the last tag before it, or by its digest.
 *
 * @example salt '*' git.describe /path/to/repo
 * @example salt '*' git.describe /path/to/repo develop
 */
export const describe = fn(
  { cwd, rev: p.default(p.string(), 'HEAD'), ...caller },
  async ({ cwd, rev, ...how }, context) => run(['describe', '--always', noOption(rev)], cwd, how, context),
)

/**
 * Return the difference between the checkout and the index, or revisions: `item1`, `item2`. With `cached` that between the index and a revision, with `no_index` that between two `paths`.
 *
 * @example salt '*' git.diff /path/to/repo
 * @example salt '*' git.diff /path/to/repo HEAD~1 HEAD paths=foo,bar
 * @example salt '*' git.diff / paths=/a,/b no_index=True
 */
export const diff = fn(
  {
    cwd,
    item1: text,
    item2: text,
    opts: optsParam,
    git_opts: optsParam,
    user: caller.user,
    password: caller.password,
    no_index: flag(false),
    cached: flag(false),
    paths: names,
    output_encoding: caller.output_encoding,
  },
  async ({ cwd, item1, item2, opts, git_opts, no_index, cached, paths, ...how }, context) => {
    if (no_index && cached)
      throw new CommandExecutionError("The 'no_index' and 'cached' options cannot be used together")
    const items = [...present(item1), ...present(item2)]
    const used = no_index ? [] : items.slice(0, cached ? 1 : 2)
    for (const item of items.slice(used.length)) context.log.warn(`Revision '${item}' ignored in git diff`)
    const words = [
      ...[...optionWords(git_opts), 'diff', ...optionWords(opts)],
      ...[...(no_index ? ['--no-index'] : []), ...(cached ? ['--cached'] : []), ...used],
      ...(paths === undefined ? [] : ['--', ...listOf(paths)]),
    ]
    const folder = await expandPath(cwd, how.user)
    if (!no_index) return run(words, folder, how, context, { merged: true })
    // Files that differ make git fail.
    const called = { ...how, cwd: folder, ignore_retcode: true }
    return (await tryGit(words, called, context, { merged: true })).stdout
  },
)

/**
 * Discard what was changed in files and not staged.
 *
 * @example salt '*' git.discard_local_changes /path/to/repo
 * @example salt '*' git.discard_local_changes /path/to/repo path=foo
 */
export const discard_local_changes = fn(
  { cwd, path: p.default(p.string(), '.'), ...caller },
  async ({ cwd, path, ...how }, context) =>
    run(['checkout', '--', path], cwd, how, context, { merged: true }),
)

/**
 * Fetch from a remote, and return what is new: `new branches`, `updated branches`, `new tags`, `updated tags`.
 *
 * @example salt '*' git.fetch /path/to/repo upstream
 * @example salt '*' git.fetch /path/to/repo identity=/root/.ssh/id_rsa
 */
export const fetch = fn(
  { cwd, remote: text, force: flag(false), refspecs: names, ...authenticated },
  async ({ cwd, remote, force, refspecs, opts, git_opts, ...how }, context) => {
    const options = optionWords(opts).filter((word) => word !== '-f' && word !== '--force')
    const words = [
      ...[...optionWords(git_opts), 'fetch', ...(force ? ['--force'] : []), ...options],
      ...[...present(remote), ...listOf(refspecs).map(noOption)],
    ]
    return readFetch(await run(words, cwd, { ...how, direction: 'fetch' }, context, { merged: true }))
  },
)

/**
 * Make a repository.
 *
 * @example salt '*' git.init /path/to/repo
 * @example salt '*' git.init /path/to/bare/repo.git bare=True shared=group
 */
export const init = fn(
  {
    cwd,
    bare: flag(false),
    template: text,
    separate_git_dir: text,
    shared: p.optional(p.union(p.boolean(), p.string())),
    ...optioned,
  },
  async ({ cwd, bare, template, separate_git_dir, shared, opts, git_opts, ...how }, context) => {
    const words = [
      ...[...optionWords(git_opts), 'init', ...(bare ? ['--bare'] : [])],
      ...(template === undefined ? [] : [`--template=${template}`]),
      ...(separate_git_dir === undefined ? [] : [`--separate-git-dir=${separate_git_dir}`]),
      ...(shared === undefined ? [] : [`--shared=${sharedMode(shared)}`]),
      ...[...optionWords(opts), await expandPath(cwd, how.user)],
    ]
    return git(words, how, context)
  },
)

/**
 * Whether a folder is in a worktree that `git.worktree_add` made.
 *
 * @example salt '*' git.is_worktree /path/to/repo
 */
export const is_worktree = fn(
  { cwd, user: caller.user, password: caller.password, output_encoding: caller.output_encoding },
  async ({ cwd, ...how }, context) => isWorktree({ ...how, cwd: await expandPath(cwd, how.user) }, context),
)

/**
 * List the branches of a repository, or those of its remotes.
 *
 * @example salt '*' git.list_branches /path/to/repo
 * @example salt '*' git.list_branches /path/to/repo remote=True
 */
export const list_branches = fn(
  { cwd, remote: flag(false), ...caller },
  async ({ cwd, remote, ...how }, context) =>
    linesOf(
      await run(
        ['for-each-ref', '--format', '%(refname:short)', `refs/${remote ? 'remotes' : 'heads'}/`],
        cwd,
        how,
        context,
      ),
    ),
)

/**
 * List the tags of a repository.
 *
 * @example salt '*' git.list_tags /path/to/repo
 */
export const list_tags = fn({ cwd, ...caller }, async ({ cwd, ...how }, context) =>
  linesOf(await run(['for-each-ref', '--format', '%(refname:short)', 'refs/tags/'], cwd, how, context)),
)

/**
 * List the worktrees of a repository, by path; with `stale` those whose folder is gone, with `all` both.
 *
 * @example salt '*' git.list_worktrees /path/to/repo
 * @example salt '*' git.list_worktrees /path/to/repo all=True
 */
export const list_worktrees = fn(
  {
    cwd,
    stale: flag(false),
    user: caller.user,
    password: caller.password,
    output_encoding: caller.output_encoding,
    all: flag(false),
  },
  async ({ cwd, stale, all, ...how }, context) => {
    if (all && stale) throw new CommandExecutionError("'all' and 'stale' cannot both be set to True")
    return listWorktrees({ ...how, cwd: await expandPath(cwd, how.user) }, { stale, all }, context)
  },
)

/**
 * List the refs of a remote repository, with their digests: those of a URL, or of a remote of a checkout.
 *
 * @example salt '*' git.ls_remote /path/to/repo origin master
 * @example salt '*' git.ls_remote remote=https://mydomain.tld/repo.git ref=mytag opts='--tags'
 */
export const ls_remote = fn(
  {
    cwd: text,
    remote: p.default(p.string(), 'origin'),
    ref: text,
    opts: optsParam,
    git_opts: optsParam,
    user: caller.user,
    password: caller.password,
    identity,
    ...login,
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
    saltenv,
  },
  async ({ cwd, remote, ref, opts, git_opts, https_user, https_pass, ...how }, context) => {
    const { url, login } = addressOf(remote, https_user, https_pass)
    const words = [
      ...optionWords(git_opts),
      'ls-remote',
      ...optionWords(opts),
      noOption(url),
      ...present(ref),
    ]
    const place =
      cwd === undefined ? {} : { cwd: await expandPath(cwd, how.user), direction: 'fetch' as const }
    return readRefs(await git(words, { ...how, ...place, login }, context))
  },
)

/**
 * Merge a revision, by default the upstream of the branch, and return what git says.
 *
 * @example salt '*' git.merge /path/to/repo
 * @example salt '*' git.merge /path/to/repo rev=upstream/foo
 */
export const merge = fn(
  {
    cwd,
    rev: text,
    opts: optsParam,
    git_opts: optsParam,
    user: caller.user,
    password: caller.password,
    identity,
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
  },
  ({ cwd, rev, opts, git_opts, ...how }, context) =>
    run([...optionWords(git_opts), 'merge', ...optionWords(opts), ...present(rev)], cwd, how, context),
)

/**
 * Return the best common ancestor of revisions, or all with `all`. With `is_ancestor` whether the first is an ancestor of the second.
 *
 * @example salt '*' git.merge_base /path/to/repo refs='[HEAD, upstream/mybranch]'
 * @example salt '*' git.merge_base /path/to/repo 8f2e542,4ad8cab is_ancestor=True
 * @example salt '*' git.merge_base /path/to/repo fork_point=upstream/master
 */
export const merge_base = fn(
  {
    cwd,
    refs: names,
    octopus: flag(false),
    is_ancestor: flag(false),
    independent: flag(false),
    fork_point: text,
    ...optioned,
    all: flag(false),
  },
  async (
    { cwd, refs, octopus, is_ancestor, independent, fork_point, opts, git_opts, all, ...how },
    context,
  ) => {
    const kinds = { octopus, independent, is_ancestor, fork_point: fork_point !== undefined }
    const given = listOf(refs).map((ref) => noOption(ref.trim()))
    refuseMixed(kinds, all, given)
    const words = [
      ...[...optionWords(git_opts), 'merge-base', ...optionWords(opts), ...(all ? ['--all'] : [])],
      ...[...(octopus ? ['--octopus'] : []), ...(is_ancestor ? ['--is-ancestor'] : [])],
      ...[
        ...(independent ? ['--independent'] : []),
        ...(fork_point ? ['--fork-point', noOption(fork_point)] : []),
      ],
      ...(fork_point && given.length === 0 ? ['HEAD'] : given),
    ]
    const folder = await expandPath(cwd, how.user)
    if (is_ancestor) return (await tryGit(words, { ...how, cwd: folder }, context)).retcode === 0
    const bases = linesOf(await git(words, { ...how, cwd: folder }, context))
    return all ? bases : (bases[0] ?? '')
  },
)

/**
 * Return what would change if a revision was merged into another one, without touching the working copy. Without `base`, from
 * their best common ancestor.
 *
 * @example salt '*' git.merge_tree /path/to/repo HEAD upstream/dev
 * @example salt '*' git.merge_tree /path/to/repo HEAD upstream/dev base=aaf3c3d
 */
export const merge_tree = fn(
  { cwd, ref1: p.string(), ref2: p.string(), base: text, ...caller },
  async ({ cwd, ref1, ref2, base, ...how }, context) => {
    const folder = await expandPath(cwd, how.user)
    const refs = [ref1, ref2].map(noOption)
    const ancestor =
      base === undefined ? await ancestorOf(refs, { ...how, cwd: folder }, context) : noOption(base)
    return git(['merge-tree', ancestor, ...refs], { ...how, cwd: folder }, context)
  },
)

/**
 * Pull from the upstream of the branch, and return what git says.
 *
 * @example salt '*' git.pull /path/to/repo opts='--rebase origin master'
 */
export const pull = fn({ cwd, ...authenticated }, async ({ cwd, opts, git_opts, ...how }, context) =>
  run([...optionWords(git_opts), 'pull', ...optionWords(opts)], cwd, { ...how, direction: 'fetch' }, context),
)

/**
 * Push a branch or another ref to a remote, and return what git says.
 *
 * @example salt '*' git.push /path/to/repo origin issue21
 * @example salt '*' git.push /path/to/repo origin master identity=/root/.ssh/id_rsa
 */
export const push = fn(
  { cwd, remote: text, ref: text, ...authenticated },
  async ({ cwd, remote, ref, opts, git_opts, ...how }, context) =>
    run(
      [...optionWords(git_opts), 'push', ...optionWords(opts), ...present(remote), ...present(ref)],
      cwd,
      { ...how, direction: 'push' },
      context,
    ),
)

/**
 * Rebase the branch onto a revision, and return what git says.
 *
 * @example salt '*' git.rebase /path/to/repo master
 * @example salt '*' git.rebase /path/to/repo 'origin master' opts='--strategy ours'
 */
export const rebase = fn(
  { cwd, rev: p.default(p.string(), 'master'), ...optioned },
  ({ cwd, rev, opts, git_opts, ...how }, context) => {
    const options = optionWords(opts)
    if (options.includes('-i') || options.includes('--interactive'))
      throw new SaltInvocationError('Interactive rebases are not supported')
    return run(
      [...optionWords(git_opts), 'rebase', ...options, ...optionWords(rev).map(noOption)],
      cwd,
      how,
      context,
    )
  },
)

/**
 * Return the URLs of a remote, to fetch from and to push to.
 *
 * @example salt '*' git.remote_get /path/to/repo
 * @example salt '*' git.remote_get /path/to/repo upstream
 */
export const remote_get = fn(
  {
    cwd,
    remote: p.default(p.string(), 'origin'),
    user: caller.user,
    password: caller.password,
    redact_auth: flag(true),
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
  },
  ({ cwd, remote, redact_auth, ...how }, context) => remoteOf(cwd, remote, redact_auth, how, context),
)

/**
 * List the refs of a repository by its URL, with their digests.
 *
 * @example salt '*' git.remote_refs https://github.com/saltstack/salt.git
 * @example salt '*' git.remote_refs https://github.com/saltstack/salt.git filter=develop
 */
export const remote_refs = fn(
  {
    url: p.string(),
    heads: flag(false),
    tags: flag(false),
    user: caller.user,
    password: caller.password,
    identity,
    ...login,
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
    saltenv,
    filter: text,
  },
  async ({ url, heads, tags, https_user, https_pass, filter, ...how }, context) => {
    const kinds = [...(heads ? ['--heads'] : []), ...(tags ? ['--tags'] : [])]
    const from = addressOf(url, https_user, https_pass)
    const words = ['ls-remote', ...kinds, noOption(from.url), ...present(filter)]
    return readRefs(await git(words, { ...how, login: from.login }, context))
  },
)

/**
 * Set the URL of a remote, which is made if it does not exist, and another one to push to with `push_url`. Returns both.
 *
 * @example salt '*' git.remote_set /path/to/repo git@github.com:user/repo.git
 * @example salt '*' git.remote_set /path/to/repo git@github.com:user/repo.git remote=upstream
 * @example salt '*' git.remote_set /path/to/repo https://github.com/user/repo.git push_url=git@github.com:user/repo.git
 */
export const remote_set = fn(
  {
    cwd,
    url: p.string(),
    remote: p.default(p.string(), 'origin'),
    user: caller.user,
    password: caller.password,
    ...login,
    push_url: text,
    push_https_user: text,
    push_https_pass: p.secret(text),
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
  },
  async (
    { cwd, url, remote, https_user, https_pass, push_url, push_https_user, push_https_pass, ...how },
    context,
  ) => {
    const from = addressOf(noOption(url), https_user, https_pass)
    const to =
      push_url === undefined ? undefined : addressOf(noOption(push_url), push_https_user, push_https_pass)
    noOption(remote)
    const place = { cwd: await expandPath(cwd, how.user), user: how.user }
    const known = readRemotes(await run(['remote', '--verbose'], cwd, how, context))
    if (Object.hasOwn(known, remote)) await run(['remote', 'rm', remote], cwd, how, context)
    await run(['remote', 'add', remote, from.url], cwd, how, context)
    if (from.login) await storeUrl('url', remote, from.whole, place, context)
    if (to) await run(['remote', 'set-url', '--push', remote, to.url], cwd, how, context)
    if (to?.login) await storeUrl('pushurl', remote, to.whole, place, context)
    return remoteOf(cwd, remote, true, how, context)
  },
)

/**
 * Return the URLs of all remotes.
 *
 * @example salt '*' git.remotes /path/to/repo
 */
export const remotes = fn(
  {
    cwd,
    user: caller.user,
    password: caller.password,
    redact_auth: flag(true),
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
  },
  ({ cwd, redact_auth, ...how }, context) => remotesOf(cwd, redact_auth, how, context),
)

/**
 * Reset the branch, as `opts` say, and return what git says.
 *
 * @example salt '*' git.reset /path/to/repo opts='--hard origin/develop'
 */
export const reset = fn(
  {
    cwd,
    opts: optsParam,
    git_opts: optsParam,
    user: caller.user,
    password: caller.password,
    identity,
    ignore_retcode: caller.ignore_retcode,
    output_encoding: caller.output_encoding,
  },
  ({ cwd, opts, git_opts, ...how }, context) =>
    run([...optionWords(git_opts), 'reset', ...optionWords(opts)], cwd, how, context),
)

/**
 * Return what `git rev-parse` says about a revision, or about `opts`.
 *
 * @example salt '*' git.rev_parse /path/to/repo HEAD
 * @example salt '*' git.rev_parse /path/to/repo opts='--is-bare-repository'
 */
export const rev_parse = fn(
  { cwd, rev: text, ...optioned },
  async ({ cwd, rev, opts, git_opts, ...how }, context) =>
    run([...optionWords(git_opts), 'rev-parse', ...optionWords(opts), ...present(rev)], cwd, how, context),
)

/**
 * Return the digest of a revision, or a short form of it.
 *
 * @example salt '*' git.revision /path/to/repo mybranch
 * @example salt '*' git.revision /path/to/repo short=True
 */
export const revision = fn(
  { cwd, rev: p.default(p.string(), 'HEAD'), short: flag(false), ...caller },
  async ({ cwd, rev, short, ...how }, context) =>
    run(['rev-parse', ...(short ? ['--short'] : []), noOption(rev)], cwd, how, context),
)

/**
 * Remove a file from the checkout and the index.
 *
 * @example salt '*' git.rm /path/to/repo foo/bar.py
 * @example salt '*' git.rm /path/to/repo foo/baz opts='-r'
 */
export const rm = fn(
  { cwd, filename: p.string(), ...optioned },
  async ({ cwd, filename, opts, git_opts, ...how }, context) =>
    run([...optionWords(git_opts), 'rm', ...optionWords(opts), '--', filename], cwd, how, context),
)

/**
 * Put changes aside (`save`), or work with those that are (`list`, `pop`, `drop`, …).
 *
 * @example salt '*' git.stash /path/to/repo
 * @example salt '*' git.stash /path/to/repo drop opts='stash@{1}'
 */
export const stash = fn(
  { cwd, action: p.default(p.string(), 'save'), ...optioned },
  async ({ cwd, action, opts, git_opts, ...how }, context) =>
    run([...optionWords(git_opts), 'stash', noOption(action), ...optionWords(opts)], cwd, how, context),
)

/**
 * Return the changed files by their state: `new`, `modified`, `deleted`, `untracked`, or git's letters.
 *
 * @example salt '*' git.status /path/to/repo
 */
export const status = fn({ cwd, ...caller }, async ({ cwd, ...how }, context) =>
  readStatus(await run(['status', '-z', '--porcelain'], cwd, how, context)),
)

/**
 * Run a command on submodules: `add`, `init`, `update`, …
 *
 * @example salt '*' git.submodule /path/to/repo update opts='--init'
 * @example salt '*' git.submodule /path/to/repo add opts='https://mydomain.tld/repo.git'
 */
export const submodule = fn(
  { cwd, command: p.string(), ...authenticated },
  ({ cwd, command, opts, git_opts, ...how }, context) =>
    run(
      [...optionWords(git_opts), 'submodule', noOption(command), ...optionWords(opts)],
      cwd,
      { ...how, direction: 'fetch' },
      context,
    ),
)

/**
 * Return the ref that a symbolic ref stands for, or set it.
 *
 * @example salt '*' git.symbolic_ref /path/to/repo HEAD
 * @example salt '*' git.symbolic_ref /path/to/repo FOO refs/heads/foo
 * @example salt '*' git.symbolic_ref /path/to/repo FOO opts='--delete'
 */
export const symbolic_ref = fn(
  { cwd, ref: p.string(), value: text, ...optioned },
  ({ cwd, ref, value, opts, git_opts, ...how }, context) => {
    const options = optionWords(opts)
    if (value !== undefined && (options.includes('-d') || options.includes('--delete')))
      throw new SaltInvocationError('Value cannot be set for symbolic ref if -d/--delete is included in opts')
    return run(
      [...optionWords(git_opts), 'symbolic-ref', ...options, noOption(ref), ...present(value)],
      cwd,
      how,
      context,
    )
  },
)

/**
 * Make a tag, an annotated one with `message`, or remove one with `opts='-d'`.
 *
 * @example salt '*' git.tag /path/to/repo v2016.3.4
 * @example salt '*' git.tag /path/to/repo v2016.3.4 ref=release message='The release'
 * @example salt '*' git.tag /path/to/repo v2016.3.4 opts='-d'
 */
export const tag = fn(
  { cwd, name: p.string(), ref: p.default(p.string(), 'HEAD'), message: text, ...optioned },
  ({ cwd, name, ref, message, opts, git_opts, ...how }, context) => {
    const options = optionWords(opts).filter((word) => word !== '-a' && word !== '--annotate')
    if (options.some((word) => word === '-m' || word.includes('--message')))
      throw new SaltInvocationError('Tag messages must be passed in the "message" argument')
    const isRemoval = options.includes('-d') || options.includes('--delete')
    const note = message === undefined ? [] : ['-a', '-m', message]
    const words = ['tag', ...note, ...options, noOption(name), ...(isRemoval ? [] : [noOption(ref)])]
    return run([...optionWords(git_opts), ...words], cwd, how, context, { merged: true })
  },
)

/**
 * Return the version of git, or its parts with `versioninfo`.
 *
 * @example salt '*' git.version
 * @example salt '*' git.version versioninfo=True
 */
export const version = fn({ versioninfo: flag(false) }, async ({ versioninfo }, context) => {
  const [found = 'unknown'] = /\d+(\.\w+)+/.exec(await git(['--version'], {}, context)) ?? []
  return versioninfo ? found.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)) : found
})

/**
 * Make a worktree in a folder, with a new branch: `branch`, or the name of the folder; with none if `detach` is set.
 *
 * @example salt '*' git.worktree_add /path/to/repo ../hotfix ref=origin/master
 * @example salt '*' git.worktree_add /path/to/repo ../hotfix branch=hotfix21 ref=v2.1.9.3
 */
export const worktree_add = fn(
  {
    cwd,
    worktree_path: p.string(),
    ref: text,
    reset_branch: p.optional(p.boolean()),
    force: p.optional(p.boolean()),
    detach: flag(false),
    ...optioned,
    branch: text,
  },
  ({ cwd, worktree_path, ref, reset_branch, force, detach, opts, git_opts, branch, ...how }, context) => {
    if (branch !== undefined && detach)
      throw new SaltInvocationError("Only one of 'branch' and 'detach' is allowed")
    if (detach && force) context.log.warn("'force' argument to git.worktree_add is ignored when detach=True")
    const named = [
      reset_branch ? '-B' : '-b',
      branch ?? basename(worktree_path),
      ...(force ? ['--force'] : []),
    ]
    const words = [
      ...[...optionWords(git_opts), 'worktree', 'add', ...(detach ? ['--detach'] : named)],
      ...[...optionWords(opts), noOption(worktree_path), ...present(ref)],
    ]
    return run(words, cwd, how, context, { merged: true })
  },
)

/**
 * Forget worktrees whose folder is gone, and return what git says.
 *
 * @example salt '*' git.worktree_prune /path/to/repo
 * @example salt '*' git.worktree_prune /path/to/repo dry_run=True expire='1.day.ago'
 */
export const worktree_prune = fn(
  { cwd, dry_run: flag(false), verbose: flag(true), expire: text, ...optioned },
  ({ cwd, dry_run, verbose, expire, opts, git_opts, ...how }, context) => {
    const words = [
      ...[...optionWords(git_opts), 'worktree', 'prune', ...(dry_run ? ['--dry-run'] : [])],
      ...[...(verbose ? ['--verbose'] : []), ...(expire ? ['--expire', expire] : []), ...optionWords(opts)],
    ]
    return run(words, cwd, how, context, { merged: true })
  },
)

/**
 * Remove the folder of a worktree. `git.worktree_prune` makes git forget it.
 *
 * @example salt '*' git.worktree_rm /path/to/worktree
 */
export const worktree_rm = fn(
  { cwd, user: caller.user, output_encoding: caller.output_encoding },
  async ({ cwd, ...how }, context) => removeWorktree(await expandPath(cwd, how.user), how, context),
)

/** Return the best common ancestor of two revisions. */
async function ancestorOf(
  refs: readonly string[],
  how: Caller & { cwd: string },
  context: Context,
): Promise<string> {
  const { retcode, stdout } = await tryGit(['merge-base', ...refs], { ...how, ignore_retcode: true }, context)
  const [base] = linesOf(stdout)
  if (retcode === 0 && base) return base
  throw new CommandExecutionError(`Unable to determine merge base for ${refs.join(' and ')}`)
}

async function run(
  words: readonly string[],
  cwd: string,
  how: Caller,
  context: Context,
  { merged = false } = {},
): Promise<string> {
  return git(words, { ...how, cwd: await expandPath(cwd, how.user) }, context, { merged })
}

async function remotesOf(cwd: string, isRedacted: boolean, how: Caller, context: Context) {
  const output = await run(['remote', '--verbose'], cwd, how, context)
  return readRemotes(isRedacted ? redacted(output) : output)
}

async function remoteOf(cwd: string, remote: string, isRedacted: boolean, how: Caller, context: Context) {
  const found = (await remotesOf(cwd, isRedacted, how, context))[remote]
  if (found) return found
  const path = await expandPath(cwd, how.user)
  throw new CommandExecutionError(`Remote '${remote}' not present in git checkout located at ${path}`)
}

/** Parse names that users write as a list, or as comma-separated text. */
function listOf(given: string | readonly unknown[] | undefined): string[] {
  if (given === undefined) return []
  return typeof given === 'string' ? given.split(',') : given.map(String)
}

const present = (word: string | undefined): string[] => (word ? [noOption(word)] : [])

/** As in Salt, digits are the octal permissions, and `true` stands for the group. */
const sharedMode = (shared: boolean | string): string => {
  const mode = String(shared)
  return /^[1-7]\d*$/.test(mode) ? `0${mode}` : mode
}

interface Kinds {
  readonly octopus: boolean
  readonly independent: boolean
  readonly is_ancestor: boolean
  readonly fork_point: boolean
}

function refuseMixed(kinds: Kinds, all: boolean, refs: readonly string[]): void {
  const { independent, is_ancestor, fork_point } = kinds
  if (all && (independent || is_ancestor || fork_point))
    throw new SaltInvocationError(
      "The 'all' argument is not compatible with 'independent', 'is_ancestor', or 'fork_point'",
    )
  if (Object.values(kinds).filter(Boolean).length > 1)
    throw new SaltInvocationError(
      "Only one of 'octopus', 'independent', 'is_ancestor', and 'fork_point' is permitted",
    )
  if (is_ancestor && refs.length !== 2)
    throw new SaltInvocationError("Two refs/commits are required if 'is_ancestor' is True")
  if (fork_point && refs.length > 1)
    throw new SaltInvocationError("At most one ref/commit can be passed if 'fork_point' is specified")
}
