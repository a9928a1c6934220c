/**
 * Read, edit and manage files of the minion.
 *
 * A leading `~` in a path is a home folder. Patterns are regular expressions of Python. Edits replace a file at once, so that
 * readers see the old content or the new, and keep its owner and mode.
 */
import * as posix from 'node:path'
import { fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { changeAttribute, listAttributes } from './_file/attributes.ts'
import { listBackups, listFolderBackups, removeBackup, restore } from './_file/backups.ts'
import { replaceBlock } from './_file/blockreplace.ts'
import {
  checkManaged,
  managedChanges,
  manageOptions,
  metaOptions,
  sourceOptions,
} from './_file/check-managed.ts'
import { commentLines } from './_file/comment-line.ts'
import { containsGlob, containsLine, containsText } from './_file/contains.ts'
import { copyPath, makeHardLink, movePath, renamePath } from './_file/copy.ts'
import { deviceNumbers, isNode, makeNode, makeNodeWithParents } from './_file/devices.ts'
import { diffOfFiles } from './_file/diff-files.ts'
import { diskUsage } from './_file/disk-usage.ts'
import { mayAccess, namesIn, setMode, touchFile } from './_file/facts.ts'
import { findFiles } from './_file/find.ts'
import { makeFolders, makeParents } from './_file/folders.ts'
import { grepFiles } from './_file/grep.ts'
import { digest, extractHash, splitHash } from './_file/hashes.ts'
import { editLine } from './_file/line.ts'
import { appendLines, prependLines, writeLines } from './_file/lines.ts'
import { makeSymlink, targetOf } from './_file/links.ts'
import { manageFile } from './_file/manage.ts'
import { managedSource, sourceSum, unsupported } from './_file/managed-source.ts'
import { metaChanges } from './_file/meta.ts'
import { openFiles } from './_file/open-files.ts'
import { groupId, groupName, userId, userName } from './_file/owners.ts'
import { applyPatch } from './_file/patch.ts'
import * as paths from './_file/paths.ts'
import { changeOwner, checkPermissions } from './_file/permissions.ts'
import { readAt, truncateFile, writeAt } from './_file/positions.ts'
import { readWhole } from './_file/reading.ts'
import { removeFolders, removePath } from './_file/remove.ts'
import { replaceInFile, searchFile } from './_file/replace.ts'
import { psedFile, sedFile, sedFinds } from './_file/sed.ts'
import { contextOf, restoreContext, setContext } from './_file/selinux.ts'
import { firstSource } from './_file/source-list.ts'
import { normalMode, statsOf } from './_file/stats.ts'
import { statvfsOf } from './_file/statvfs.ts'
import { float } from './_host/numbers.ts'
import { isEngineOfSalt, renderTemplate } from './_template/index.ts'
import { textOnly } from './_values/text-only.ts'
import { mergedMaps } from './_values/traverse.ts'

/** The functions work on POSIX systems. */
export const virtual: Virtual = () =>
  process.platform !== 'win32' ||
  'The file execution module cannot be loaded: only available on non-Windows systems - use win_file instead.'

const path = p.string()
const owner = p.any({ description: 'A name or a number.' })
const follow_symlinks = p.default(p.boolean(), true)
/** Lines by position, or by the name `args`. */
const lineParams = { path, lines: p.rest(p.any()), kwargs: p.keywords(p.any()) }
const given = (lines: readonly unknown[], { args }: Readonly<Record<string, unknown>>): readonly unknown[] =>
  args === undefined ? lines : [args].flat()
const backup = p.default(
  p.union(p.boolean(), p.string({ description: 'The ending of the copy beside the file; False for none.' })),
  '.bak',
)
const flag = (value: boolean) => p.default(p.boolean(), value)
const text = p.optional(p.string())
const suffix = (given: string | boolean): string | false =>
  typeof given === 'string' && given !== '' ? given : false
const asOwner = (given: unknown) =>
  typeof given === 'number' || given === null ? given : String(given ?? '')

/**
 * Return the facts about a file: inode, owner, times, size, mode, type and target, with `hash_type` also its hash.
 *
 * @example salt '*' file.stats /etc/passwd
 */
export const stats = fn({ path, hash_type: text, follow_symlinks }, ({ path, hash_type, follow_symlinks }) =>
  statsOf(path, hash_type, follow_symlinks),
)

/**
 * Return the facts that lstat(2) gives; an empty map if there is no such file.
 *
 * @example salt '*' file.lstat /path/to/file
 */
export const lstat = fn({ path }, async ({ path }) => {
  const found = await paths.lstatOf(await paths.absolute(path, 'Path to file must be absolute.'))
  if (!found) return {}
  return {
    st_atime: float(found.atimeMs / 1000),
    st_ctime: float(found.ctimeMs / 1000),
    st_gid: found.gid,
    st_mode: found.mode,
    st_mtime: float(found.mtimeMs / 1000),
    st_nlink: found.nlink,
    st_size: found.size,
    st_uid: found.uid,
  }
})

/**
 * Return the id of the group that owns a file.
 *
 * @example salt '*' file.get_gid /etc/passwd
 */
export const get_gid = fn({ path, follow_symlinks }, async ({ path, follow_symlinks }) => {
  return (await statsOf(path, undefined, follow_symlinks)).gid
})

/**
 * Return the group that owns a file.
 *
 * @example salt '*' file.get_group /etc/passwd
 */
export const get_group = fn({ path, follow_symlinks }, async ({ path, follow_symlinks }) => {
  return (await statsOf(path, undefined, follow_symlinks)).group
})

/**
 * Return the id of the user that owns a file.
 *
 * @example salt '*' file.get_uid /etc/passwd
 */
export const get_uid = fn({ path, follow_symlinks }, async ({ path, follow_symlinks }) => {
  return (await statsOf(path, undefined, follow_symlinks)).uid
})

/**
 * Return the user that owns a file.
 *
 * @example salt '*' file.get_user /etc/passwd
 */
export const get_user = fn({ path, follow_symlinks }, async ({ path, follow_symlinks }) => {
  return (await statsOf(path, undefined, follow_symlinks)).user
})

/**
 * Return the mode of a file, such as `0644`.
 *
 * @example salt '*' file.get_mode /etc/passwd
 */
export const get_mode = fn({ path, follow_symlinks }, async ({ path, follow_symlinks }) => {
  return (await statsOf(path, undefined, follow_symlinks)).mode
})

/**
 * Set the mode of a file, and return it.
 *
 * @example salt '*' file.set_mode /etc/passwd 0644
 */
export const set_mode = fn({ path, mode: p.string() }, ({ path, mode }) => setMode(path, mode))

/**
 * Return the name of a group id.
 *
 * @example salt '*' file.gid_to_group 0
 */
export const gid_to_group = fn({ gid: owner }, async ({ gid }) => {
  const id = /^\d+$/.test(String(gid)) ? Number(gid) : await groupId(asOwner(gid))
  return id === undefined ? '' : groupName(id)
})

/**
 * Return the id of a group; empty if there is no such group.
 *
 * @example salt '*' file.group_to_gid root
 */
export const group_to_gid = fn({ group: owner }, async ({ group }) => (await groupId(asOwner(group))) ?? '')

/**
 * Return the name of a user id.
 *
 * @example salt '*' file.uid_to_user 0
 */
export const uid_to_user = fn({ uid: p.integer() }, ({ uid }) => userName(uid))

/**
 * Return the id of a user; empty if there is no such user.
 *
 * @example salt '*' file.user_to_uid root
 */
export const user_to_uid = fn({ user: owner }, async ({ user }) => (await userId(asOwner(user))) ?? '')

/**
 * Change the owner and group of a file, and return nothing; else why not.
 *
 * @example salt '*' file.chown /etc/passwd root root
 */
export const chown = fn({ path, user: owner, group: owner }, ({ path, user, group }) =>
  changeOwner(path, user, group),
)

/**
 * Change the owner and group of a symlink itself.
 *
 * @example salt '*' file.lchown /etc/localtime root root
 */
export const lchown = fn({ path, user: owner, group: owner }, ({ path, user, group }) =>
  changeOwner(path, user, group, false),
)

/**
 * Change the group of a file.
 *
 * @example salt '*' file.chgrp /etc/passwd root
 */
export const chgrp = fn({ path, group: owner }, async ({ path, group }) => {
  await statsOf(path, undefined, true)
  return changeOwner(path, '', group)
})

/**
 * Return the hash of a file; `File not found` if there is none.
 *
 * @example salt '*' file.get_sum /etc/passwd sha512
 */
export const get_sum = fn({ path, form: p.default(p.string(), 'sha256') }, async ({ path, form }) => {
  const file = await paths.expandHome(path)
  return (await paths.isFile(file)) ? digest(file, form) : 'File not found'
})

/**
 * Return the hash of a file.
 *
 * @example salt '*' file.get_hash /etc/shadow
 */
export const get_hash = fn(
  { path, form: p.default(p.string(), 'sha256'), chunk_size: p.default(p.integer(), 65536) },
  async ({ path, form }) => digest(await paths.expandHome(path), form),
)

/**
 * True if a file has a hash, given as `md5:…`, `md5=…`, or digits alone.
 *
 * @example salt '*' file.check_hash /etc/fstab md5:d41d8cd98f00b204e9800998ecf8427e
 */
export const check_hash = fn({ path, file_hash: p.string() }, async ({ path, file_hash }) => {
  const { type, sum } = splitHash(file_hash)
  return (await digest(await paths.expandHome(path), type)) === sum
})

/**
 * True if a file contains a text.
 *
 * @example salt '*' file.contains /etc/crontab 'mymaintenance.sh'
 */
export const contains = fn({ path, text: p.string() }, ({ path, text }, { signal }) =>
  containsText(path, text, signal),
)

/**
 * True if a line of a file matches a pattern; `lchar` are characters that are removed from its beginning first.
 *
 * @example salt '*' file.contains_regex /etc/crontab '^maint' '#'
 */
export const contains_regex = fn(
  { path, regex: p.string(), lchar: p.default(p.string(), '') },
  ({ path, regex, lchar }, { signal }) => containsLine(path, regex, lchar, signal),
)

/**
 * True if a shell pattern matches the whole content of a file.
 *
 * @example salt '*' file.contains_glob /etc/foobar '*cheese*'
 */
export const contains_glob = fn({ path, glob_expr: p.string() }, ({ path, glob_expr }, { signal }) =>
  containsGlob(path, glob_expr, signal),
)

/**
 * True if a file contains a match of a pattern. `flags` is a number (8: MULTILINE), a name, or a list of names.
 *
 * @example salt '*' file.search /etc/crontab 'mymaintenance.sh'
 */
export const search = fn(
  {
    path,
    pattern: p.string(),
    flags: p.default(p.any(), 8),
    bufsize: p.default(p.any(), 1),
    ignore_if_missing: flag(false),
    multiline: flag(false),
  },
  async ({ path, pattern, flags, ignore_if_missing, multiline }) =>
    searchFile(path, multiline ? `(?m)${pattern}` : pattern, flags, ignore_if_missing),
)

/**
 * Replace the matches of a pattern in a file, and return the diff; with `show_changes=False` whether something changed.
 *
 * @example salt '*' file.replace /etc/httpd/httpd.conf pattern='LogLevel warn' repl='LogLevel info'
 * @example salt '*' file.replace /some/file pattern='before' repl='after' flags='[MULTILINE, IGNORECASE]'
 */
export const replace = fn(
  {
    path,
    pattern: p.string(),
    repl: p.string(),
    count: p.default(p.integer({ minimum: 0 }), 0),
    flags: p.default(p.any(), 8),
    bufsize: p.default(p.any(), 1),
    append_if_not_found: flag(false),
    prepend_if_not_found: flag(false),
    not_found_content: text,
    backup,
    dry_run: flag(false),
    search_only: flag(false),
    show_changes: flag(true),
    ignore_if_missing: flag(false),
    preserve_inode: flag(true),
    backslash_literal: flag(false),
  },
  async ({ path, pattern, repl, search_only, backup, ...options }, context) => {
    if (!search_only)
      return replaceInFile(path, pattern, repl, { ...options, backup: suffix(backup) }, context)
    if (options.append_if_not_found || options.prepend_if_not_found)
      throw new SaltInvocationError('search_only cannot be used with append/prepend_if_not_found')
    return searchFile(path, pattern, options.flags, options.ignore_if_missing)
  },
)

/**
 * Replace the text between two marker lines, and return the diff; with `show_changes=False` whether something changed.
 *
 * @example salt '*' file.blockreplace /etc/hosts '#-- start managed zone foobar : DO NOT EDIT --' '#-- end managed zone foobar --' $'10.0.1.1 foo.foobar\n10.0.1.2 bar.foobar' True
 */
export const blockreplace = fn(
  {
    path,
    marker_start: p.default(p.string(), '#-- start managed zone --'),
    marker_end: p.default(p.string(), '#-- end managed zone --'),
    content: p.default(p.string(), ''),
    append_if_not_found: flag(false),
    prepend_if_not_found: flag(false),
    backup,
    dry_run: flag(false),
    show_changes: flag(true),
    append_newline: p.default(p.any({ description: 'None: a line end if the content has none.' }), false),
    insert_before_match: text,
    insert_after_match: text,
  },
  ({ path, backup, append_newline, ...options }, context) => {
    const newline = append_newline === null ? null : Boolean(append_newline)
    return replaceBlock(path, { ...options, backup: suffix(backup), append_newline: newline }, context)
  },
)

/**
 * Insert, replace, delete or ensure one line of a file, and return the diff; with `show_changes=False` whether something
 * changed.
 *
 * @example salt '*' file.line /etc/nsswitch.conf "networks:\tfiles dns" after="hosts:.*?" mode='ensure'
 */
export const line = fn(
  {
    path,
    content: text,
    match: text,
    mode: text,
    location: text,
    before: text,
    after: text,
    show_changes: flag(true),
    backup: p.default(p.union(p.boolean(), p.string()), false),
    quiet: flag(false),
    indent: flag(true),
  },
  ({ path, ...options }, context) => editLine(path, options, context),
)

const commenting = { path, regex: p.string(), char: p.default(p.string(), '#') }

/**
 * Comment out the lines that a pattern matches; returns the diff of these lines, or false without a match.
 *
 * @example salt '*' file.comment /etc/modules pcspkr
 */
export const comment = fn({ ...commenting, backup }, ({ path, regex, char, backup }, context) =>
  commentLines(path, regex, { char, comment: true, backup: suffix(backup) }, context),
)

/**
 * Uncomment the lines that a pattern matches; returns the diff of these lines, or false without a match.
 *
 * @example salt '*' file.uncomment /etc/hosts.deny 'ALL: PARANOID'
 */
export const uncomment = fn({ ...commenting, backup }, ({ path, regex, char, backup }, context) =>
  commentLines(path, regex, { char, comment: false, backup: suffix(backup) }, context),
)

/**
 * Comment (`cmnt=True`) or uncomment the lines that a pattern matches.
 *
 * @example salt '*' file.comment_line /etc/modules pcspkr '#' True
 */
export const comment_line = fn(
  { ...commenting, cmnt: flag(true), backup },
  ({ path, regex, char, cmnt, backup }, context) =>
    commentLines(path, regex, { char, comment: cmnt, backup: suffix(backup) }, context),
)

/**
 * Append lines to a file that exists.
 *
 * @example salt '*' file.append /etc/motd "With all thine offerings thou shalt offer salt." "Salt is what makes things taste bad when it isn't in them."
 */
export const append = fn(lineParams, ({ path, lines, kwargs }) => appendLines(path, given(lines, kwargs)))

/**
 * Put lines at the beginning of a file.
 *
 * @example salt '*' file.prepend /etc/motd "With all thine offerings thou shalt offer salt."
 */
export const prepend = fn(lineParams, ({ path, lines, kwargs }, context) =>
  prependLines(path, given(lines, kwargs), context),
)

/**
 * Write lines to a file in place of what it contains.
 *
 * @example salt '*' file.write /etc/motd "With all thine offerings thou shalt offer salt."
 */
export const write = fn(lineParams, ({ path, lines, kwargs }) => writeLines(path, given(lines, kwargs)))

/**
 * Return the content of a file.
 *
 * @example salt '*' file.read /path/to/file
 */
export const read = fn({ path, binary: flag(false) }, ({ path }) => readWhole(path))

/**
 * Create a file if it is missing, and set its times, in seconds; to now by default.
 *
 * @example salt '*' file.touch /var/log/emptyfile
 */
export const touch = fn(
  { name: path, atime: p.optional(p.any()), mtime: p.optional(p.any()) },
  ({ name, ...times }) => touchFile(name, times),
)

/**
 * Read bytes of a file from an offset.
 *
 * @example salt '*' file.seek_read /path/to/file 4096 0
 */
export const seek_read = fn({ path, size: p.integer(), offset: p.integer() }, ({ path, size, offset }) =>
  readAt(path, size, offset),
)

/**
 * Write data into a file at an offset, and return the number of bytes.
 *
 * @example salt '*' file.seek_write /path/to/file 'some data' 4096
 */
export const seek_write = fn({ path, data: p.string(), offset: p.integer() }, ({ path, data, offset }) =>
  writeAt(path, data, offset),
)

/**
 * Cut a file, or extend it with zeros, to a length.
 *
 * @example salt '*' file.truncate /path/to/file 512
 */
export const truncate = fn({ path, length: p.integer({ minimum: 0 }) }, ({ path, length }) =>
  truncateFile(path, length),
)

/**
 * Make a hard link.
 *
 * @example salt '*' file.link /path/to/file /path/to/link
 */
export const link = fn({ src: path, path }, ({ src, path }) => makeHardLink(src, path))

/**
 * True if a file has more than one hard link.
 *
 * @example salt '*' file.is_hardlink /path/to/link
 */
export const is_hardlink = fn({ path }, async ({ path }) => {
  const found = await paths.lstatOf(await paths.absolute(path, 'Path to file must be absolute.'))
  return (found?.nlink ?? 0) > 1
})

/**
 * True if a path is a symlink.
 *
 * @example salt '*' file.is_link /path/to/link
 */
export const is_link = fn({ path }, async ({ path }) => paths.isSymlink(await paths.expandHome(path)))

/**
 * Make a symlink at `path` to `src`. `force` and `atomic` replace what is there.
 *
 * @example salt '*' file.symlink /path/to/file /path/to/link
 */
export const symlink = fn(
  { src: path, path, force: flag(false), atomic: flag(false) },
  ({ src, path, ...options }) => makeSymlink(src, path, options),
)

/**
 * Return the target of a symlink; with `canonicalize` its full path, all symlinks resolved.
 *
 * @example salt '*' file.readlink /path/to/link
 */
export const readlink = fn({ path, canonicalize: flag(false) }, ({ path, canonicalize }) =>
  targetOf(path, canonicalize),
)

/**
 * Rename a file or folder.
 *
 * @example salt '*' file.rename /path/to/src /path/to/dst
 */
export const rename = fn({ src: path, dst: path }, ({ src, dst }) => renamePath(src, dst))

/**
 * Copy a file, or with `recurse` a folder. `remove_existing` removes the destination folder first.
 *
 * @example salt '*' file.copy /path/to/src /path/to/dst
 * @example salt '*' file.copy /path/to/src_dir /path/to/dst_dir recurse=True remove_existing=True
 */
export const copy = fn(
  { src: path, dst: path, recurse: flag(false), remove_existing: flag(false) },
  ({ src, dst, ...options }, { signal }) => copyPath(src, dst, options, signal),
)

/**
 * Move a file or folder.
 *
 * @example salt '*' file.move /path/to/src /path/to/dst
 */
export const move = fn(
  { src: path, dst: path, disallow_copy_and_unlink: flag(false) },
  ({ src, dst, disallow_copy_and_unlink }, { signal }) =>
    disallow_copy_and_unlink ? renamePath(src, dst) : movePath(src, dst, signal),
)

/**
 * Remove a file, or a folder with all that is in it. False if there is nothing.
 *
 * @example salt '*' file.remove /tmp/foo
 */
export const remove = fn({ path, kwargs: p.keywords(p.any()) }, ({ path }, { signal }) =>
  removePath(path, signal),
)

/**
 * Remove an empty folder; with `recurse` also the empty folders in it.
 *
 * @example salt '*' file.rmdir /tmp/foo/
 */
export const rmdir = fn(
  { path, recurse: flag(false), verbose: flag(false), older_than: p.optional(p.integer()) },
  ({ path, ...options }, { log, signal }) => removeFolders(path, options, log, signal),
)

const permissions = { user: p.optional(owner), group: p.optional(owner) }

/**
 * Make a folder, and those above it that are missing.
 *
 * @example salt '*' file.mkdir /opt/jetty/context
 */
export const mkdir = fn(
  { dir_path: path, ...permissions, mode: text },
  async ({ dir_path, user, group, mode }) => {
    const folder = posix.normalize(await paths.expandHome(dir_path))
    if (!(await paths.isFolder(folder)))
      await makeFolders(folder, { user: asOwner(user), group: asOwner(group), mode: normalMode(mode) })
    return true
  },
)

/**
 * Make the folders above a path: of `/opt/code/` the folder itself, of `/opt/code` only `/opt`.
 *
 * @example salt '*' file.makedirs /opt/code/
 */
export const makedirs = fn({ path, ...permissions, mode: text }, ({ path, user, group, mode }) =>
  makeParents(path, { user: asOwner(user), group: asOwner(group), mode: normalMode(mode) }),
)

/**
 * Make a folder and those above it that are missing, all with the owner and mode.
 *
 * @example salt '*' file.makedirs_perms /opt/code
 */
export const makedirs_perms = fn(
  { name: path, ...permissions, mode: p.default(p.string(), '0755') },
  async ({ name, user, group, mode }) => {
    await makeFolders(await paths.expandHome(name), {
      user: asOwner(user),
      group: asOwner(group),
      mode: normalMode(mode),
    })
    return null
  },
)

/**
 * True if a path is a folder.
 *
 * @example salt '*' file.directory_exists /etc
 */
export const directory_exists = fn({ path: textOnly() }, async ({ path }) =>
  paths.isFolder(await paths.expandHome(path)),
)

/**
 * True if a path is a regular file.
 *
 * @example salt '*' file.file_exists /etc/passwd
 */
export const file_exists = fn({ path: textOnly() }, async ({ path }) =>
  paths.isFile(await paths.expandHome(path)),
)

/**
 * True if a shell pattern matches a path.
 *
 * @example salt '*' file.path_exists_glob '/etc/passwd*'
 */
export const path_exists_glob = fn({ path }, async ({ path }) => {
  return (await paths.glob(await paths.expandHome(path))).length > 0
})

/**
 * True if this process may use a file: `f` it exists, `r` read, `w` write, `x` execute.
 *
 * @example salt '*' file.access /path/to/file f
 */
export const access = fn({ path, mode: p.any() }, ({ path, mode }) => mayAccess(path, mode))

/**
 * List the names in a folder, with `.` and `..`.
 *
 * @example salt '*' file.readdir /path/to/dir/
 */
export const readdir = fn({ path }, ({ path }) => namesIn(path))

/**
 * Return the last part of a path.
 *
 * @example salt '*' file.basename 'test/test.config'
 */
export const basename = fn({ path: textOnly() }, ({ path }) => path.slice(path.lastIndexOf('/') + 1))

/**
 * Return a path without its last part.
 *
 * @example salt '*' file.dirname 'test/path/filename.config'
 */
export const dirname = fn({ path: textOnly() }, ({ path }) => {
  const head = path.slice(0, path.lastIndexOf('/') + 1)
  return /^\/*$/.test(head) ? head : head.replace(/\/+$/, '')
})

/**
 * Join parts of a path; an absolute part begins the path anew.
 *
 * @example salt '*' file.join '/' 'usr' 'local' 'bin'
 */
export const join = fn({ args: p.rest(textOnly()) }, ({ args }) => {
  if (args.length === 0) throw new SaltInvocationError('Name at least one part of the path.')
  return args.reduce((head, part) => {
    if (part.startsWith('/') || head === '') return part
    return head.endsWith('/') ? head + part : `${head}/${part}`
  }, '')
})

/**
 * Remove `..`, `.` and doubled separators from a path.
 *
 * @example salt '*' file.normpath 'a/b/c/..'
 */
export const normpath = fn({ path: textOnly() }, ({ path }) => {
  const shown = posix.normalize(path).replace(/(.)\/$/, '$1')
  return /^\/\/(?!\/)/.test(path) ? `/${shown}` : shown // two slashes have a meaning of their own in POSIX
})

/**
 * Return the relative name of the parent folder.
 *
 * @example salt '*' file.pardir
 */
export const pardir = fn(() => '..')

/**
 * Find files, with the criteria and actions of find(1): name, iname, regex, iregex, type, owner, group, size, mtime, grep,
 * mindepth, maxdepth, print, delete, and exec, which runs a command with `{}` for the path.
 *
 * @example salt '*' file.find / type=f name=\\*.bak size=+10m
 * @example salt '*' file.find /var mtime=+30d size=+10m print=path,size,mtime
 * @example salt '*' file.find /var/log name=\\*.log exec='gzip {}'
 */
export const find = fn(
  { path, args: p.rest(p.string()), kwargs: p.keywords(p.any()) },
  async ({ path, args, kwargs }, context) => {
    const action = args.includes('delete') ? { delete: 'f' } : args.includes('print') ? { print: 'path' } : {}
    return findFiles(await paths.expandHome(path), { ...kwargs, ...action }, context)
  },
)

/**
 * Return the unified diff of two files of the minion; empty if they are equal.
 *
 * @example salt '*' file.get_diff /home/fred/.vimrc /home/users/fred/.vimrc
 */
export const get_diff = fn(
  {
    file1: path,
    file2: path,
    saltenv: p.default(p.string(), 'base'),
    show_filenames: flag(true),
    show_changes: flag(true),
    template: flag(false),
    source_hash_file1: text,
    source_hash_file2: text,
  },
  ({ file1, file2, source_hash_file1, source_hash_file2, ...options }, context) =>
    diffOfFiles([file1, file2], [source_hash_file1, source_hash_file2], options, context),
)

/**
 * Return the bytes that a file, or all files in a folder, take; a file with several names counts once.
 *
 * @example salt '*' file.diskusage /path/to/check
 */
export const diskusage = fn({ path }, ({ path }, { signal }) => diskUsage(path, signal))

/**
 * True if a file is a block device.
 *
 * @example salt '*' file.is_blkdev /dev/sda
 */
export const is_blkdev = fn({ name: path }, ({ name }) => isNode(name, 'b'))

/**
 * True if a file is a character device.
 *
 * @example salt '*' file.is_chrdev /dev/null
 */
export const is_chrdev = fn({ name: path }, ({ name }) => isNode(name, 'c'))

/**
 * True if a file is a named pipe.
 *
 * @example salt '*' file.is_fifo /dev/null
 */
export const is_fifo = fn({ name: path }, ({ name }) => isNode(name, 'p'))

/**
 * Return the major and minor number of a device file; zeros for any other.
 *
 * @example salt '*' file.get_devmm /dev/null
 */
export const get_devmm = fn({ name: path }, ({ name }) => deviceNumbers(name))

/**
 * Return what statvfs(3) tells of the file system of a path.
 *
 * @example salt '*' file.statvfs /path/to/file
 */
export const statvfs = fn({ path }, ({ path }, context) => statvfsOf(path, context))

/**
 * List the files that are open, each with the ids of the processes that have it open; with `by_pid` by process.
 *
 * @example salt '*' file.open_files
 * @example salt '*' file.open_files by_pid=True
 */
export const open_files = fn({ by_pid: flag(false) }, ({ by_pid }, { signal }) => openFiles(by_pid, signal))

/**
 * Run grep(1) on the files that a shell pattern matches, and return what `cmd.run_all` returns. Give each option by itself.
 *
 * @example salt '*' file.grep /etc/passwd nobody
 * @example salt '*' file.grep /etc/sysconfig/network-scripts/ifcfg-eth0 ipaddr -i
 */
export const grep = fn(
  { path, pattern: p.string(), opts: p.rest(p.any()) },
  ({ path, pattern, opts }, context) => grepFiles(path, pattern, opts, context),
)

const limit = p.optional(p.integer({ minimum: 0 }))

/**
 * List the backups of a file that `backup: minion` made, the newest first.
 *
 * @example salt '*' file.list_backups /foo/bar/baz.txt
 */
export const list_backups = fn({ path, limit }, ({ path, limit }, context) =>
  listBackups(path, limit, context),
)

/**
 * List the backups of a file, as `file.list_backups` does.
 *
 * @example salt '*' file.list_backup /foo/bar/baz.txt
 */
export const list_backup = fn({ path, limit }, ({ path, limit }, context) =>
  listBackups(path, limit, context),
)

/**
 * List the backups of all files of a folder.
 *
 * @example salt '*' file.list_backups_dir /foo/bar/
 */
export const list_backups_dir = fn({ path, limit }, ({ path, limit }, context) =>
  listFolderBackups(path.endsWith('/') ? `${path}.` : path, limit, context),
)

/**
 * Put a backup in place of a file; its number is that of file.list_backups.
 *
 * @example salt '*' file.restore_backup /foo/bar/baz.txt 0
 */
export const restore_backup = fn({ path, backup_id: p.any() }, ({ path, backup_id }, context) =>
  restore(path, backup_id, context),
)

/**
 * Delete a backup; its number is that of file.list_backups.
 *
 * @example salt '*' file.delete_backup /foo/bar/baz.txt 0
 */
export const delete_backup = fn({ path, backup_id: p.any() }, ({ path, backup_id }, context) =>
  removeBackup(path, backup_id, context),
)

/**
 * Delete a backup, as `file.delete_backup` does.
 *
 * @example salt '*' file.remove_backup /foo/bar/baz.txt 0
 */
export const remove_backup = fn({ path, backup_id: p.any() }, ({ path, backup_id }, context) =>
  removeBackup(path, backup_id, context),
)

const editor = { path, before: p.string(), after: p.string(), limit: p.default(p.string(), '') }

/**
 * Edit a file with sed(1), and return what `cmd.run_all` returns; false if there is no such file.
 *
 * @example salt '*' file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'
 */
export const sed = fn(
  {
    ...editor,
    backup: p.default(p.string(), '.bak'),
    options: p.default(p.string(), '-r -e'),
    flags: p.default(p.string(), 'g'),
    escape_all: flag(false),
    negate_match: flag(false),
  },
  ({ path, ...options }, context) => sedFile(path, options, context),
)

/**
 * Replace the matches of a pattern. `flags` are letters: `g` for all matches instead of the first, and those of Python's `re`.
 *
 * @example salt '*' file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'
 */
export const psed = fn(
  {
    ...editor,
    backup: p.default(p.string(), '.bak'),
    flags: p.default(p.string(), 'gMS'),
    escape_all: flag(false),
    multi: flag(false),
  },
  ({ path, ...options }, context) => psedFile(path, options, context),
)

/**
 * True if sed(1) would find a pattern in a file.
 *
 * @example salt '*' file.sed_contains /etc/crontab 'mymaintenance.sh'
 */
export const sed_contains = fn(
  { path, text: p.string(), limit: p.default(p.string(), ''), flags: p.default(p.string(), 'g') },
  ({ path, ...options }, context) => sedFinds(path, options, context),
)

/**
 * Apply a patch with patch(1) to a file or folder, and return what `cmd.run_all` returns.
 *
 * @example salt '*' file.patch /opt/file.txt /tmp/file.txt.patch
 */
export const patch = fn(
  { originalfile: path, patchfile: path, options: p.default(p.string(), ''), dry_run: flag(false) },
  ({ originalfile, patchfile, ...how }, context) => applyPatch(originalfile, patchfile, how, context),
)

const hashParams = { file_name: p.default(p.string(), ''), source: p.default(p.string(), '') }

/**
 * Find the hash of a file in a file of hashes, such as the output of sha256sum: the one for `source_hash_name`, else for the
 * base name of `file_name` or `source`, else the first one.
 *
 * @example salt '*' file.extract_hash /path/to/hash/file sha512 /etc/foo
 */
export const extract_hash = fn(
  { hash_fn: path, hash_type: p.default(p.string(), 'sha256'), ...hashParams, source_hash_name: text },
  ({ hash_fn, hash_type, ...names }) => extractHash(hash_fn, hash_type, names),
)

/**
 * Return the type and digits of a source_hash: a hash, `type=hash`, or the path or URL of a file of hashes.
 *
 * @example salt '*' file.get_source_sum /tmp/foo.tar.gz source_hash=499ae16dcae71eeb7c3a30c75ea7a1a6
 */
export const get_source_sum = fn(
  {
    ...hashParams,
    source_hash: p.optional(p.string()),
    source_hash_name: text,
    saltenv: p.default(p.string(), 'base'),
    verify_ssl: flag(true),
  },
  ({ source_hash = 'None', saltenv, verify_ssl, ...names }, context) =>
    sourceSum(source_hash, names, { saltenv, verify_ssl }, context),
)

/** Parts of the SELinux context. */
const labels = { seuser: text, serole: text, setype: text, serange: text }

/**
 * Give a file an owner, group, mode, attributes and SELinux context, and return what changed and what was before. With
 * `test=True` in the configuration nothing is changed.
 *
 * @example salt '*' file.check_perms /etc/sudoers '{}' root root 400
 */
export const check_perms = fn(
  {
    name: path,
    ret: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: text,
    follow_symlinks: flag(false),
    ...labels,
  },
  ({ seuser, serole, setype, serange, ...given }, context) =>
    checkPermissions(
      { ...given, label: { user: seuser, role: serole, type: setype, range: serange } },
      context,
    ),
)

const major = p.integer({ minimum: 0 })
const mode = p.default(p.string(), '0660')

/**
 * Make a device file (`b`: block, `c`: character) or a named pipe (`p`).
 *
 * @example salt '*' file.mknod /dev/chr c 180 31
 * @example salt '*' file.mknod /dev/fifo p
 */
export const mknod = fn(
  {
    name: path,
    ntype: p.string(),
    major: p.default(major, 0),
    minor: p.default(major, 0),
    ...permissions,
    mode: p.default(p.string(), '0600'),
  },
  ({ name, ntype, ...options }, context) => makeNodeWithParents(name, ntype, options, context),
)

/**
 * Make a character device.
 *
 * @example salt '*' file.mknod_chrdev /dev/chr 180 31
 */
export const mknod_chrdev = fn(
  { name: path, major, minor: major, ...permissions, mode },
  ({ name, ...options }, context) => makeNode(name, 'c', options, context),
)

/**
 * Make a block device.
 *
 * @example salt '*' file.mknod_blkdev /dev/blk 8 999
 */
export const mknod_blkdev = fn(
  { name: path, major, minor: major, ...permissions, mode },
  ({ name, ...options }, context) => makeNode(name, 'b', options, context),
)

/**
 * Make a named pipe.
 *
 * @example salt '*' file.mknod_fifo /dev/fifo
 */
export const mknod_fifo = fn({ name: path, ...permissions, mode }, ({ name, ...options }, context) =>
  makeNode(name, 'p', options, context),
)

/**
 * Return the SELinux context of a file, else a sentence.
 *
 * @example salt '*' file.get_selinux_context /etc/hosts
 */
export const get_selinux_context = fn({ path }, ({ path }, context) => contextOf(path, context))

/**
 * Set parts of the SELinux context of a file, and return the new context; false if chcon(1) fails.
 *
 * @example salt '*' file.set_selinux_context /etc/yum.repos.d/epel.repo system_u object_r system_conf_t s0
 */
export const set_selinux_context = fn(
  { path, user: text, role: text, type: text, range: text, persist: flag(false) },
  ({ path, persist, ...label }, context) => setContext(path, label, persist, context),
)

/**
 * Give a file the SELinux context that the policy has for it; with `recursive` also all below a folder.
 *
 * @example salt '*' file.restorecon /home/user/.ssh/authorized_keys
 */
export const restorecon = fn({ path, recursive: flag(false) }, ({ path, recursive }, context) =>
  restoreContext(path, recursive, context),
)

/**
 * List the attributes of a file on ext2/3/4, XFS or btrfs, by its path.
 *
 * @example salt '*' file.lsattr foo1.txt
 */
export const lsattr = fn({ path }, ({ path }, context) => listAttributes(path, context))

/**
 * Add or remove attributes of files. False if chattr(1) said anything.
 *
 * @example salt '*' file.chattr foo1.txt foo2.txt operator=add attributes=ai
 */
export const chattr = fn(
  { files: p.rest(p.string()), operator: text, attributes: text, flags: text, version: text },
  ({ files, operator, attributes, ...options }, context) => {
    if (operator !== 'add' && operator !== 'remove')
      throw new SaltInvocationError("Need an operator: 'add' or 'remove' to modify attributes.")
    if (attributes === undefined) throw new SaltInvocationError('Need attributes: [aAcCdDeijPsStTu]')
    return changeAttribute(files, { operator, attributes, ...options }, context)
  },
)

/**
 * Render text as a template of Jinja. `context` is a map of variables, and `defaults` one of those that it lacks. For an engine that
 * Salt does not know either, the result says so.
 *
 * @example salt '*' file.apply_template_on_contents contents='This is a {{ template }} string.' template=jinja context="{'template': 'cool'}" defaults='{}' saltenv=base
 */
export const apply_template_on_contents = fn(
  { contents: p.string(), template: p.string(), context: p.any(), defaults: p.any(), saltenv: p.string() },
  ({ contents, template, saltenv, ...given }, context) =>
    isEngineOfSalt(template)
      ? renderTemplate(
          contents,
          template,
          { saltenv, variables: mergedMaps(given.defaults, given.context) },
          context,
        )
      : { result: false, comment: unsupported(template) },
)

/**
 * Return the first source of a list that exists, and its hash. Sources are URLs or paths, or maps of one to its hash.
 *
 * @example salt '*' file.source_list salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f737d4f53f}' base
 */
export const source_list = fn(
  { source: p.any(), source_hash: p.any(), saltenv: p.any() },
  ({ source, source_hash, saltenv }, context) =>
    firstSource(source, source_hash, String(saltenv || 'base'), context),
)

/** What is managed, in the order of Salt's positional arguments. */
const managed = {
  name: path,
  source: p.any(),
  source_hash: p.any(),
  source_hash_name: p.any(),
  user: p.any(),
  group: p.any(),
  mode: p.any(),
  attrs: p.any(),
}
const templates = { template: p.any(), context: p.any(), defaults: p.any() }

/**
 * Fetch the source of a managed file, and return its path on this minion, its hash, and what is wrong with it. A template of Jinja is
 * rendered into a temporary file; file.manage_file removes it.
 *
 * @example salt '*' file.get_managed /etc/httpd/conf.d/httpd.conf jinja salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f737d4f53f}' None root root '755' None base None None
 */
export const get_managed = fn(
  {
    name: path,
    template: p.any(),
    source: p.any(),
    source_hash: p.any(),
    source_hash_name: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.any(),
    saltenv: p.any(),
    context: p.any(),
    defaults: p.any(),
    skip_verify: flag(false),
    verify_ssl: flag(true),
    use_etag: flag(false),
    kwargs: p.keywords(p.any()),
  },
  (given, context) => managedSource(sourceOptions(given), context),
)

/**
 * Give a file the content of a source or of `contents`, an owner and a mode, and return what changed. `sfn` and `source_sum` are
 * those of file.get_managed. The content is replaced at once; `backup=minion` keeps the old one.
 *
 * @example salt '*' file.manage_file /etc/httpd/conf.d/httpd.conf '' '{}' salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f737d4f53f}' root root '755' '' base ''
 */
export const manage_file = fn(
  {
    name: path,
    sfn: p.any(),
    ret: p.any(),
    source: p.any(),
    source_sum: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.any(),
    saltenv: p.any(),
    backup: p.any(),
    makedirs: flag(false),
    template: text,
    show_changes: flag(true),
    contents: p.optional(p.any()),
    dir_mode: p.optional(p.any()),
    follow_symlinks: flag(true),
    skip_verify: flag(false),
    keep_mode: flag(false),
    encoding: text,
    encoding_errors: p.default(p.string(), 'strict'),
    ...labels,
    verify_ssl: flag(true),
    use_etag: flag(false),
    kwargs: p.keywords(p.any()),
  },
  (given, context) => manageFile(manageOptions(given), context),
)

/**
 * Check whether a managed file is as it should be: true, None if it would be changed, false if that is not possible; and a
 * sentence.
 *
 * @example salt '*' file.check_managed /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f737d4f53f}' None root root '755' None None None None base
 */
export const check_managed = fn(
  {
    ...managed,
    ...templates,
    saltenv: p.any(),
    contents: p.optional(p.any()),
    skip_verify: flag(false),
    ...labels,
    follow_symlinks: flag(false),
    kwargs: p.keywords(p.any()),
  },
  (given, context) => checkManaged(given, context),
)

/**
 * Return what would be changed so that a managed file is as it should be; empty if nothing.
 *
 * @example salt '*' file.check_managed_changes /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f737d4f53f}' None root root '755' None None None None base
 */
export const check_managed_changes = fn(
  {
    ...managed,
    ...templates,
    saltenv: p.any(),
    contents: p.optional(p.any()),
    skip_verify: flag(false),
    keep_mode: flag(false),
    ...labels,
    verify_ssl: flag(true),
    follow_symlinks: flag(false),
    kwargs: p.keywords(p.any()),
  },
  (given, context) => managedChanges(given, context),
)

/**
 * Return what would have to change so that a file has a content, owner and mode; empty if nothing. `sfn` is the path of the
 * source on this minion.
 *
 * @example salt '*' file.check_file_meta /etc/httpd/conf.d/httpd.conf None salt://http/httpd.conf '{hash_type: md5, hsum: 79eef25f9b0b2c642c62b7f737d4f53f}' root root '755' None base
 */
export const check_file_meta = fn(
  {
    name: path,
    sfn: p.any(),
    source: p.any(),
    source_sum: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.any(),
    saltenv: p.any(),
    contents: p.optional(p.any()),
    ...labels,
    verify_ssl: flag(true),
    follow_symlinks: flag(false),
  },
  (given, context) => metaChanges(metaOptions(given), context),
)
