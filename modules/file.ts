/**
 * Read, edit and manage files of the minion.
 *
 * A leading `~` in a path is a home folder. Patterns are regular expressions of Python. Edits replace a file at once, so that
 * readers see the old content or the new, and keep its owner and mode.
 */
import * as fs from 'node:fs/promises'
import * as posix from 'node:path'
import { CommandExecutionError, fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { pythonSearch } from '#internal'
import { listBackups, listFolderBackups, removeBackup, restore } from './_file/backups.ts'
import { replaceBlock } from './_file/blockreplace.ts'
import { commentLines } from './_file/comment-line.ts'
import { copyPath, movePath } from './_file/copy.ts'
import { linesOf, unifiedDiff } from './_file/diff.ts'
import { findFiles } from './_file/find.ts'
import { makeFolders, makeParents } from './_file/folders.ts'
import { digest, extractHash, namesHashFile, readSourceHash, splitHash } from './_file/hashes.ts'
import { editLine } from './_file/line.ts'
import { appendLines, prependLines, writeLines } from './_file/lines.ts'
import { makeSymlink } from './_file/links.ts'
import { groupId, groupName, ownerIds, userId, userName } from './_file/owners.ts'
import * as paths from './_file/paths.ts'
import { checkPermissions } from './_file/permissions.ts'
import { removeFolders, removePath } from './_file/remove.ts'
import { replaceInFile, searchFile } from './_file/replace.ts'
import { normalMode, realPath, statsOf } from './_file/stats.ts'
import { readText } from './_file/text.ts'

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
    st_atime: found.atimeMs / 1000,
    st_ctime: found.ctimeMs / 1000,
    st_gid: found.gid,
    st_mode: found.mode,
    st_mtime: found.mtimeMs / 1000,
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
export const set_mode = fn({ path, mode: p.string() }, async ({ path, mode }) => {
  const file = await paths.expandHome(path)
  const digits = mode.replace(/^[0Oo]+/, '') || '0'
  if (!(await paths.exists(file))) throw new CommandExecutionError(`${file}: File not found`)
  if (!/^[0-7]{1,4}$/.test(digits)) return `Invalid Mode ${digits}`
  await paths.attempt(fs.chmod(file, Number.parseInt(digits, 8)))
  return (await statsOf(file, undefined, true)).mode
})

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

async function changeOwner(path: string, user: unknown, group: unknown): Promise<string | null> {
  const file = await paths.expandHome(path)
  const { uid, gid, unknown } = await ownerIds(asOwner(user), asOwner(group))
  const found = await paths.lstatOf(file)
  const problem = unknown + (found ? '' : 'File not found')
  if (problem !== '') return problem
  const change = found?.isSymbolicLink() && !(await paths.exists(file)) ? fs.lchown : fs.chown
  await paths.attempt(change(file, uid, gid))
  return null
}

/**
 * Change the owner and group of a symlink itself.
 *
 * @example salt '*' file.lchown /etc/localtime root root
 */
export const lchown = fn({ path, user: owner, group: owner }, async ({ path, user, group }) => {
  const { uid, gid, unknown } = await ownerIds(asOwner(user), asOwner(group))
  if (unknown !== '') return unknown
  await paths.attempt(fs.lchown(await paths.expandHome(path), uid, gid))
  return null
})

/**
 * Change the group of a file.
 *
 * @example salt '*' file.chgrp /etc/passwd root
 */
export const chgrp = fn({ path, group: owner }, ({ path, group }) => changeOwner(path, '', group))

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
export const contains = fn({ path, text: p.string() }, async ({ path, text }) => {
  const file = await paths.expandHome(path)
  return (await paths.isFile(file)) && (await readText(file)).text.includes(text.trim())
})

/**
 * True if a line of a file matches a pattern; `lchar` are characters that are removed from its beginning first.
 *
 * @example salt '*' file.contains_regex /etc/crontab '^maint' '#'
 */
export const contains_regex = fn(
  { path, regex: p.string(), lchar: p.default(p.string(), '') },
  async ({ path, regex, lchar }) => {
    const file = await paths.expandHome(path)
    if (!(await paths.isFile(file))) return false
    const search = pythonSearch(regex)
    const all = (await readText(file)).text.match(/[^\n]*\n|[^\n]+$/g) ?? []
    return all.some((line) => {
      let from = 0
      while (from < line.length && lchar.includes(line[from] as string)) from++
      return search.found(line.slice(from))
    })
  },
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
  async ({ path, pattern, repl, search_only, backup, ...options }) => {
    if (!search_only) return replaceInFile(path, pattern, repl, { ...options, backup: suffix(backup) })
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
  ({ path, backup, append_newline, ...options }) =>
    replaceBlock(path, {
      ...options,
      backup: suffix(backup),
      append_newline: append_newline === null ? null : Boolean(append_newline),
    }),
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
    backup: flag(false),
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
export const comment = fn({ ...commenting, backup }, ({ path, regex, char, backup }) =>
  commentLines(path, regex, { char, comment: true, backup: suffix(backup) }),
)

/**
 * Uncomment the lines that a pattern matches; returns the diff of these lines, or false without a match.
 *
 * @example salt '*' file.uncomment /etc/hosts.deny 'ALL: PARANOID'
 */
export const uncomment = fn({ ...commenting, backup }, ({ path, regex, char, backup }) =>
  commentLines(path, regex, { char, comment: false, backup: suffix(backup) }),
)

/**
 * Comment (`cmnt=True`) or uncomment the lines that a pattern matches.
 *
 * @example salt '*' file.comment_line /etc/modules pcspkr '#' True
 */
export const comment_line = fn(
  { ...commenting, cmnt: flag(true), backup },
  ({ path, regex, char, cmnt, backup }) =>
    commentLines(path, regex, { char, comment: cmnt, backup: suffix(backup) }),
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
export const prepend = fn(lineParams, ({ path, lines, kwargs }) => prependLines(path, given(lines, kwargs)))

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
export const read = fn({ path, binary: flag(false) }, async ({ path }) => paths.attempt(fs.readFile(path)))

/**
 * Create a file if it is missing, and set its times, in seconds; to now by default.
 *
 * @example salt '*' file.touch /var/log/emptyfile
 */
export const touch = fn(
  { name: path, atime: p.optional(p.any()), mtime: p.optional(p.any()) },
  async ({ name, atime, mtime }) => {
    const file = await paths.expandHome(name)
    const seconds = [atime, mtime].map((time) =>
      time === undefined || time === null ? Date.now() / 1000 : Number(time),
    )
    if (seconds.some(Number.isNaN)) throw new SaltInvocationError('atime and mtime must be integers')
    try {
      await (await fs.open(file, 'a')).close()
      await fs.utimes(file, seconds[0] as number, seconds[1] as number)
    } catch (error) {
      throw new CommandExecutionError(paths.reasonOf(error))
    }
    return paths.exists(file)
  },
)

/**
 * Read bytes of a file from an offset.
 *
 * @example salt '*' file.seek_read /path/to/file 4096 0
 */
export const seek_read = fn(
  { path, size: p.integer(), offset: p.integer() },
  async ({ path, size, offset }) => {
    const file = await paths.attempt(fs.open(await paths.expandHome(path)))
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, offset)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  },
)

/**
 * Write data into a file at an offset, and return the number of bytes.
 *
 * @example salt '*' file.seek_write /path/to/file 'some data' 4096
 */
export const seek_write = fn(
  { path, data: p.string(), offset: p.integer() },
  async ({ path, data, offset }) => {
    const file = await paths.attempt(fs.open(await paths.expandHome(path), 'r+'))
    try {
      const { bytesWritten } = await file.write(data, offset)
      await file.sync()
      return bytesWritten
    } finally {
      await file.close()
    }
  },
)

/**
 * Cut a file, or extend it with zeros, to a length.
 *
 * @example salt '*' file.truncate /path/to/file 512
 */
export const truncate = fn({ path, length: p.integer({ minimum: 0 }) }, async ({ path, length }) => {
  await paths.attempt(fs.truncate(await paths.expandHome(path), length))
  return null
})

/**
 * Make a hard link.
 *
 * @example salt '*' file.link /path/to/file /path/to/link
 */
export const link = fn({ src: path, path }, async ({ src, path }) => {
  const file = await paths.absolute(src, 'File path must be absolute.')
  try {
    await fs.link(file, path)
    return true
  } catch (error) {
    throw new CommandExecutionError(`Could not create '${path}': ${paths.errorText(error)}`)
  }
})

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
export const readlink = fn({ path, canonicalize: flag(false) }, async ({ path, canonicalize }) => {
  const link = await paths.absolute(path, `Path to link must be absolute: ${path}`)
  if (!(await paths.isSymlink(link))) throw new SaltInvocationError(`A valid link was not specified: ${link}`)
  return canonicalize ? realPath(link) : fs.readlink(link)
})

/**
 * Rename a file or folder.
 *
 * @example salt '*' file.rename /path/to/src /path/to/dst
 */
export const rename = fn({ src: path, dst: path }, ({ src, dst }) => renamePath(src, dst))

async function renamePath(given: string, to: string): Promise<true> {
  const dst = await paths.expandHome(to)
  const src = await paths.absolute(given, 'File path must be absolute.')
  try {
    await fs.rename(src, dst)
    return true
  } catch {
    throw new CommandExecutionError(`Could not rename '${src}' to '${dst}'`)
  }
}

/**
 * Copy a file, or with `recurse` a folder. `remove_existing` removes the destination folder first.
 *
 * @example salt '*' file.copy /path/to/src /path/to/dst
 * @example salt '*' file.copy /path/to/src_dir /path/to/dst_dir recurse=True remove_existing=True
 */
export const copy = fn(
  { src: path, dst: path, recurse: flag(false), remove_existing: flag(false) },
  ({ src, dst, ...options }) => copyPath(src, dst, options),
)

/**
 * Move a file or folder.
 *
 * @example salt '*' file.move /path/to/src /path/to/dst
 */
export const move = fn(
  { src: path, dst: path, disallow_copy_and_unlink: flag(false) },
  ({ src, dst, disallow_copy_and_unlink }) =>
    disallow_copy_and_unlink ? renamePath(src, dst) : movePath(src, dst),
)

/**
 * Remove a file, or a folder with all that is in it. False if there is nothing.
 *
 * @example salt '*' file.remove /tmp/foo
 */
export const remove = fn({ path, kwargs: p.keywords(p.any()) }, ({ path }) => removePath(path))

/**
 * Remove an empty folder; with `recurse` also the empty folders in it.
 *
 * @example salt '*' file.rmdir /tmp/foo/
 */
export const rmdir = fn(
  { path, recurse: flag(false), verbose: flag(false), older_than: p.optional(p.integer()) },
  ({ path, ...options }, { log }) => removeFolders(path, options, log),
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
export const directory_exists = fn({ path }, async ({ path }) => paths.isFolder(await paths.expandHome(path)))

/**
 * True if a path is a regular file.
 *
 * @example salt '*' file.file_exists /etc/passwd
 */
export const file_exists = fn({ path }, async ({ path }) => paths.isFile(await paths.expandHome(path)))

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
export const access = fn({ path, mode: p.any() }, async ({ path, mode }) => {
  const file = await paths.absolute(path, 'Path to link must be absolute.')
  const modes: Readonly<Record<string, number>> = { f: 0, r: 4, w: 2, x: 1 }
  const wanted = Object.hasOwn(modes, String(mode)) ? modes[String(mode)] : mode
  if (typeof wanted !== 'number' || ![0, 1, 2, 4].includes(wanted))
    throw new SaltInvocationError('Invalid mode specified.')
  return fs.access(file, wanted).then(
    () => true,
    () => false,
  )
})

/**
 * List the names in a folder, with `.` and `..`.
 *
 * @example salt '*' file.readdir /path/to/dir/
 */
export const readdir = fn({ path }, async ({ path }) => {
  const folder = await paths.absolute(path, 'Dir path must be absolute.')
  if (!(await paths.isFolder(folder))) throw new SaltInvocationError('A valid directory was not specified.')
  return ['.', '..', ...(await fs.readdir(folder))]
})

/**
 * Return the last part of a path.
 *
 * @example salt '*' file.basename 'test/test.config'
 */
export const basename = fn({ path }, ({ path }) => path.slice(path.lastIndexOf('/') + 1))

/**
 * Return a path without its last part.
 *
 * @example salt '*' file.dirname 'test/path/filename.config'
 */
export const dirname = fn({ path }, ({ path }) => {
  const head = path.slice(0, path.lastIndexOf('/') + 1)
  return /^\/*$/.test(head) ? head : head.replace(/\/+$/, '')
})

/**
 * Join parts of a path; an absolute part begins the path anew.
 *
 * @example salt '*' file.join '/' 'usr' 'local' 'bin'
 */
export const join = fn({ args: p.rest(p.string()) }, ({ args }) =>
  args.reduce((head, part) => {
    if (part.startsWith('/') || head === '') return part
    return head.endsWith('/') ? head + part : `${head}/${part}`
  }, ''),
)

/**
 * Remove `..`, `.` and doubled separators from a path.
 *
 * @example salt '*' file.normpath 'a/b/c/..'
 */
export const normpath = fn({ path }, ({ path }) => posix.normalize(path).replace(/(.)\/$/, '$1'))

/**
 * Return the relative name of the parent folder.
 *
 * @example salt '*' file.pardir
 */
export const pardir = fn(() => '..')

/**
 * Find files, with the criteria and actions of find(1): name, iname, regex, iregex, type, owner, group, size, mtime, grep,
 * mindepth, maxdepth, print, delete.
 *
 * @example salt '*' file.find / type=f name=\\*.bak size=+10m
 * @example salt '*' file.find /var mtime=+30d size=+10m print=path,size,mtime
 */
export const find = fn(
  { path, args: p.rest(p.string()), kwargs: p.keywords(p.any()) },
  async ({ path, args, kwargs }, { signal }) => {
    const action = args.includes('delete') ? { delete: 'f' } : args.includes('print') ? { print: 'path' } : {}
    return findFiles(await paths.expandHome(path), { ...kwargs, ...action }, signal)
  },
)

/**
 * Return the unified diff of two files of the minion; empty if they are equal.
 *
 * @example salt '*' file.get_diff /home/fred/.vimrc /home/users/fred/.vimrc
 */
export const get_diff = fn(
  { file1: path, file2: path, saltenv: text, show_filenames: flag(true), show_changes: flag(true) },
  async ({ file1, file2, saltenv, show_filenames, show_changes }, { call }) => {
    const names = await Promise.all(
      [file1, file2].map(async (file) => {
        const cached = await call('cp.cache_file', { path: file, ...(saltenv && { saltenv }) })
        if (typeof cached === 'string' && cached !== '') return cached
        throw new CommandExecutionError(`File ${file} not found`)
      }),
    )
    const [before, after] = await Promise.all(names.map(async (name) => (await readText(name)).text))
    if (before === after) return ''
    if (!show_changes) return '<show_changes=False>'
    return unifiedDiff(
      linesOf(before ?? ''),
      linesOf(after ?? ''),
      show_filenames ? [file1, file2] : ['', ''],
    )
  },
)

/**
 * Return the bytes that a file, or all files in a folder, take; a file with several names counts once.
 *
 * @example salt '*' file.diskusage /path/to/check
 */
export const diskusage = fn({ path }, async ({ path }, { signal }) => {
  if (await paths.isFile(path)) return (await fs.stat(path)).size
  const seen = new Map<number, number>()
  const entries = await fs.readdir(path, { recursive: true, withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    signal.throwIfAborted()
    const found = entry.isDirectory()
      ? undefined
      : await paths.statOf(posix.join(entry.parentPath, entry.name))
    if (found && !found.isDirectory()) seen.set(found.ino, found.size)
  }
  return [...seen.values()].reduce((sum, size) => sum + size, 0)
})

/**
 * True if a file is a block device.
 *
 * @example salt '*' file.is_blkdev /dev/sda
 */
export const is_blkdev = fn({ name: path }, async ({ name }) => {
  return (await paths.statOf(await paths.expandHome(name)))?.isBlockDevice() ?? false
})

/**
 * True if a file is a character device.
 *
 * @example salt '*' file.is_chrdev /dev/null
 */
export const is_chrdev = fn({ name: path }, async ({ name }) => {
  return (await paths.statOf(await paths.expandHome(name)))?.isCharacterDevice() ?? false
})

/**
 * True if a file is a named pipe.
 *
 * @example salt '*' file.is_fifo /dev/null
 */
export const is_fifo = fn({ name: path }, async ({ name }) => {
  return (await paths.statOf(await paths.expandHome(name)))?.isFIFO() ?? false
})

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
 * @example salt '*' file.delete_backup /var/cache/salt/minion/file_backup/home/foo/bar/baz.txt 0
 */
export const delete_backup = fn({ path, backup_id: p.any() }, ({ path, backup_id }, context) =>
  removeBackup(path, backup_id, context),
)

const editor = { path, before: p.string(), after: p.string(), limit: p.default(p.string(), '') }

/** Escape a text for sed, whose separator is `/`. */
const forSed = (given: string, escapeAll: boolean): string => {
  const separated = given.replaceAll('/', '\\/')
  return escapeAll ? separated.replace(/[\^.[$()|*+?{]/g, '\\$&') : separated
}

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
  async ({ path, before, after, limit, backup, options, flags, escape_all, negate_match }, { call }) => {
    const file = await paths.expandHome(path)
    if (!(await paths.exists(file))) return false
    const [from, to, only] = [before, after, limit].map((given) => forSed(given, escape_all))
    const script = `${only ? `/${only}/ ` : ''}${negate_match ? '!' : ''}s/${from}/${to}/${flags}`
    const cmd = ['sed', `-i${backup}`, ...options.split(/\s+/).filter(Boolean), script, file]
    return call('cmd.run_all', { cmd, python_shell: false })
  },
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
  async ({ path, before, after, limit, backup, flags, escape_all }) => {
    if (limit !== '') throw new SaltInvocationError('limit is not supported; write it into the pattern')
    await replaceInFile(path, forSed(before, escape_all), after, {
      count: flags.includes('g') ? 0 : 1,
      flags: Array.from(flags.replaceAll('g', '')),
      append_if_not_found: false,
      prepend_if_not_found: false,
      backup: suffix(backup),
      dry_run: false,
      show_changes: false,
      ignore_if_missing: false,
      preserve_inode: true,
      backslash_literal: false,
    })
    return null
  },
)

/**
 * True if sed(1) would find a pattern in a file.
 *
 * @example salt '*' file.sed_contains /etc/crontab 'mymaintenance.sh'
 */
export const sed_contains = fn(
  { path, text: p.string(), limit: p.default(p.string(), ''), flags: p.default(p.string(), 'g') },
  async ({ path, text, limit, flags }, { call }) => {
    const file = await paths.expandHome(path)
    if (!(await paths.exists(file))) return false
    const script = `${limit ? `/${forSed(limit, false)}/ ` : ''}s/${forSed(text, false)}/$/p${flags}`
    return Boolean(
      await call('cmd.run', { cmd: ['sed', '-n', '-r', '-e', script, file], python_shell: false }),
    )
  },
)

/**
 * Apply a patch with patch(1) to a file or folder, and return what `cmd.run_all` returns.
 *
 * @example salt '*' file.patch /opt/file.txt /tmp/file.txt.patch
 */
export const patch = fn(
  { originalfile: path, patchfile: path, options: p.default(p.string(), ''), dry_run: flag(false) },
  async ({ originalfile, patchfile, options, dry_run }, { call }) => {
    const program = await call('cmd.which', ['patch'])
    if (!program)
      throw new CommandExecutionError(
        "patch executable not found. Is the distribution's patch package installed?",
      )
    const given = options.split(/\s+/).filter(Boolean)
    const has = (...starts: string[]) =>
      given.some((option) => starts.some((start) => option.startsWith(start)))
    const isFolder = await paths.isFolder(originalfile)
    const cmd = [
      program,
      ...given,
      ...(dry_run ? ['--dry-run'] : []),
      ...(given.includes('-N') || given.includes('--forward') ? [] : ['--forward']),
      ...(given.includes('-r') || has('--reject-file') ? [] : ['--reject-file=-']),
      '-i',
      patchfile,
      ...(isFolder ? ['-d', originalfile] : [originalfile]),
      ...(isFolder && !has('-p', '--strip=') ? ['--strip=0'] : []),
    ]
    return call('cmd.run_all', { cmd, python_shell: false })
  },
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
    source_hash: p.string(),
    source_hash_name: text,
    saltenv: p.default(p.string(), 'base'),
    verify_ssl: flag(true),
  },
  async ({ source_hash, saltenv, verify_ssl, ...names }, { call }) => {
    if (!namesHashFile(source_hash)) return readSourceHash(source_hash)
    const hashes = await call('cp.cache_file', { path: source_hash, saltenv, verify_ssl })
    if (typeof hashes !== 'string' || hashes === '')
      throw new CommandExecutionError(`Source hash file ${source_hash} not found`)
    const found = await extractHash(hashes, '', names)
    if (found) return found
    throw new CommandExecutionError(`No hash for the file was found in ${source_hash}`)
  },
)

/**
 * Give a file an owner, group and mode, and return what changed and what was before. With `test=True` in the configuration
 * nothing is changed.
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
  },
  ({ attrs, ...given }, { opts }) => {
    if (attrs !== undefined)
      throw new SaltInvocationError('attrs is not supported here; set attributes with file.chattr')
    return checkPermissions(given, opts.test === true)
  },
)

const DEVICES = { b: 'block', c: 'character', p: 'fifo' } as const

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
    major: p.default(p.integer({ minimum: 0 }), 0),
    minor: p.default(p.integer({ minimum: 0 }), 0),
    ...permissions,
    mode: p.default(p.string(), '0600'),
  },
  async ({ name, ntype, major, minor, user, group, mode }, { call }) => {
    if (!Object.hasOwn(DEVICES, ntype))
      throw new SaltInvocationError(
        "Node type unavailable: '{}'. Available node types are character ('c'), block ('b'), and pipe ('p').".replace(
          '{}',
          ntype,
        ),
      )
    const file = await paths.expandHome(name)
    const numbers = ntype === 'p' ? [] : [String(major), String(minor)]
    const cmd = ['mknod', `--mode=${normalMode(mode)}`, '--', file, ntype, ...numbers]
    const made = await call('cmd.run_all', { cmd, python_shell: false })
    if (made.retcode !== 0) throw new CommandExecutionError(`Could not create '${file}': ${made.stderr}`)
    if (user !== undefined || group !== undefined) await changeOwner(file, user ?? '', group ?? '')
    return true
  },
)

/**
 * List the attributes of a file on ext2/3/4, XFS or btrfs, by its path.
 *
 * @example salt '*' file.lsattr foo1.txt
 */
export const lsattr = fn({ path }, async ({ path }, { call }) => {
  if (!(await call('cmd.which', ['lsattr']))) return null
  if (!(await paths.exists(path))) throw new SaltInvocationError(`File or directory does not exist: ${path}`)
  const output = await call('cmd.run', { cmd: ['lsattr', path], python_shell: false, ignore_retcode: true })
  const rows = String(output)
    .split('\n')
    .filter((row) => row !== '' && !row.startsWith('lsattr: '))
  return Object.fromEntries(
    rows.map((row) => {
      const [attributes = '', ...name] = row.split(/\s+/)
      return [name.join(' '), attributes.match(/[aAcCdDeijPsStTu]/g) ?? []]
    }),
  )
})

/**
 * Add or remove attributes of files. False if chattr(1) said anything.
 *
 * @example salt '*' file.chattr foo1.txt foo2.txt operator=add attributes=ai
 */
export const chattr = fn(
  { files: p.rest(p.string()), operator: text, attributes: text, flags: text, version: text },
  async ({ files, operator, attributes, flags, version }, { call }) => {
    if (operator !== 'add' && operator !== 'remove')
      throw new SaltInvocationError("Need an operator: 'add' or 'remove' to modify attributes.")
    if (attributes === undefined) throw new SaltInvocationError('Need attributes: [aAcCdDeijPsStTu]')
    const change = `${operator === 'add' ? '+' : '-'}${attributes}`
    const options = [...(flags ? [`-${flags}`] : []), ...(version ? ['-v', version] : [])]
    const output = await call('cmd.run', {
      cmd: ['chattr', change, ...options, ...files],
      python_shell: false,
    })
    return output === ''
  },
)

/**
 * Render text as a template. Refused, since salt-ts has no renderers.
 *
 * @example salt '*' file.apply_template_on_contents contents='This is a {{ template }} string.' template=jinja context='{}' defaults='{}' saltenv=base
 */
export const apply_template_on_contents = fn(
  { contents: p.string(), template: p.string(), context: p.any(), defaults: p.any(), saltenv: p.string() },
  ({ template }) => {
    throw new CommandExecutionError(`Templates (${template}) cannot be rendered: salt-ts has no renderers`)
  },
)
