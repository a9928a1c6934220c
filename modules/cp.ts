/**
 * Copy files to the minion, from the master's file server (`salt://`) or an http server, and from the minion to the
 * master.
 *
 * `saltenv` is the environment of the file server, if the URL does not name one (`salt://a?saltenv=dev`): by default the
 * option `saltenv`, else base. A file that the minion already has, by its hash, is not sent again.
 */
import { copyFile, mkdir, stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CommandExecutionError, fn, p, SaltInvocationError } from 'salt-ts'
import { mapConcurrently } from '#internal'
import { digestOf } from './_cp/digest.ts'
import { cacheUrl, contentOf, fetchServerFile, fetchUrl } from './_cp/fetch.ts'
import { cachedFiles, cacheFolder, fetchFolder } from './_cp/folders.ts'
import { environment, externalCopy, localCopy, requireServerPath, serverPath } from './_cp/places.ts'
import { pushFile, pushFolder } from './_cp/push.ts'
import { receiveChunk, receiveFiles } from './_cp/receive.ts'
import { copyTemplate, renderPaths } from './_cp/template.ts'

const saltenv = p.optional(p.string())
const gzip = p.optional(
  p.integer({ minimum: 0, maximum: 9, description: 'Compression level of the transfer, 1 to 9.' }),
)
const template = p.optional(p.string())
const source_hash = p.optional(
  p.string({
    description:
      'Digest that the file must have, such as sha256=…. A cached file with this digest is not fetched again.',
  }),
)
const patterns = p.optional(p.union(p.string(), p.array(p.string())))

/**
 * Copy a file from the file server to the minion and return its path: an empty string if the master has no such file,
 * false if the destination folder does not exist. The file is replaced atomically, after its hash has been verified.
 *
 * @example salt '*' cp.get_file salt://path/to/file /minion/dest
 * @example salt '*' cp.get_file salt://foo/bar.conf /etc/foo/bar.conf saltenv=config makedirs=True gzip=5
 */
export const get_file = fn(
  { path: p.string(), dest: p.string(), saltenv, makedirs: p.default(p.boolean(), false), template, gzip },
  async ({ path, dest, ...options }, context) => {
    const [source, target] = await renderPaths([path, dest], options, context)
    const found = requireServerPath(source, environment(context, options.saltenv))
    requireAbsolute(target)
    if (!(await context.minion.files.hash(found.path, found.saltenv))) return ''
    return fetchServerFile(found, target, options, context)
  },
)

/**
 * List the environments of the file server.
 *
 * @example salt '*' cp.envs
 */
export const envs = fn((_, { minion }) => minion.files.envs())

/**
 * Render a file as a template of Jinja to `dest` and return its path: an empty string if there is no such file, or no folder for
 * it. The template has `salt`, `pillar`, `grains`, `opts` and `saltenv`, and each further keyword as a variable.
 *
 * @example salt '*' cp.get_template salt://path/to/template /minion/dest
 * @example salt '*' cp.get_template salt://motd.jinja /etc/motd owner=ops
 */
export const get_template = fn(
  {
    path: p.string(),
    dest: p.string(),
    template: p.default(p.string(), 'jinja'),
    saltenv,
    makedirs: p.default(p.boolean(), false),
    kwargs: p.keywords(p.any()),
  },
  ({ path, dest, ...options }, context) => copyTemplate(path, dest, options, context),
)

/**
 * Copy a folder of the file server with all its content, including empty folders. Returns the paths of the copies.
 *
 * @example salt '*' cp.get_dir salt://path/to/dir/ /minion/dest
 */
export const get_dir = fn(
  { path: p.string(), dest: p.string(), saltenv, template, gzip },
  async ({ path, dest, ...options }, context) => {
    const [source, target] = await renderPaths([path, dest], options, context)
    requireAbsolute(target)
    return fetchFolder(
      requireServerPath(source, environment(context, options.saltenv)),
      target,
      options.gzip,
      context,
    )
  },
)

/**
 * Fetch a file from a salt://, http:// or https:// URL to `dest`, or into the cache if `dest` is empty, and return its
 * path. For a file of the minion (file://, or no scheme), return its path. With `dest=None`, return the content instead.
 *
 * @example salt '*' cp.get_url salt://my/file /tmp/this_file_is_mine
 * @example salt '*' cp.get_url https://example.com/a.tgz source_hash=sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 */
export const get_url = fn(
  {
    path: p.string(),
    dest: p.default(p.any({ description: 'A path; empty for the cache; None to return the content.' }), ''),
    saltenv,
    makedirs: p.default(p.boolean(), false),
    source_hash,
  },
  async ({ path, dest, ...options }, context) => {
    const given = await fetchUrl(path, typeof dest === 'string' ? dest : null, options, context)
    if (given === false)
      context.log.error(`Unable to fetch file ${path} from saltenv ${environment(context, options.saltenv)}.`)
    return given
  },
)

/**
 * Fetch a file into the cache and return its content; false if there is no such file.
 *
 * @example salt '*' cp.get_file_str salt://my/file
 */
export const get_file_str = fn({ path: p.string(), saltenv }, async ({ path, saltenv }, context) => {
  const cached = await cacheUrl(path, { saltenv }, context)
  return typeof cached === 'string' ? contentOf(cached).catch(() => false) : cached
})

/**
 * Fetch a file into the minion's cache and return its cached path; false if there is no such file.
 *
 * @example salt '*' cp.cache_file salt://path/to/file
 * @example salt '*' cp.cache_file https://example.com/a.tgz use_etag=True
 */
export const cache_file = fn(
  {
    path: p.string(),
    saltenv,
    source_hash,
    verify_ssl: p.default(p.boolean(), true),
    use_etag: p.default(p.boolean(), false),
  },
  ({ path, ...options }, context) => cacheUrl(path, options, context),
)

/**
 * Return the path at which the cache would store a URL, whether it is cached or not.
 *
 * @example salt '*' cp.cache_dest salt://my/file saltenv=dev
 * @example salt '*' cp.cache_dest https://foo.com/bar.rpm
 */
export const cache_dest = fn({ url: p.string(), saltenv }, ({ url, saltenv }, context) => {
  if (!url.includes('://')) return url
  const found = serverPath(url, environment(context, saltenv))
  const place = found
    ? context.minion.files.cachedPath(found.path, found.saltenv)
    : externalCopy(url, environment(context, saltenv), context)
  if (place !== undefined) return place
  throw new CommandExecutionError(
    `${url} cannot be cached: its path leads out of the cache, or its scheme is not supported`,
  )
})

/**
 * Fetch several files into the cache: a list, or comma-separated text.
 *
 * @example salt '*' cp.cache_files salt://pathto/file1,salt://pathto/file2?saltenv=dev
 */
export const cache_files = fn(
  { paths: p.union(p.string(), p.array(p.string())), saltenv },
  ({ paths, saltenv }, context) =>
    mapConcurrently(typeof paths === 'string' ? paths.split(',') : paths, (path) =>
      cacheUrl(path, { saltenv }, context),
    ),
)

/**
 * Fetch a folder into the cache. The patterns are shell patterns for whole paths, or, after `E@`, regular expressions.
 *
 * @example salt '*' cp.cache_dir salt://path/to/dir
 * @example salt '*' cp.cache_dir salt://path/to/dir include_pat='E@[.]conf$' exclude_pat='*.bak'
 */
export const cache_dir = fn(
  {
    path: p.string(),
    saltenv,
    include_empty: p.default(p.boolean(), false),
    include_pat: patterns,
    exclude_pat: patterns,
  },
  ({ path, saltenv, include_empty, include_pat, exclude_pat }, context) =>
    cacheFolder(
      requireServerPath(path, environment(context, saltenv)),
      { include_empty, include_pat: listOf(include_pat), exclude_pat: listOf(exclude_pat) },
      context,
    ),
)

/**
 * Fetch all files of an environment into the cache.
 *
 * @example salt '*' cp.cache_master
 */
export const cache_master = fn({ saltenv }, ({ saltenv }, context) =>
  cacheFolder({ path: '', saltenv: environment(context, saltenv) }, { include_empty: false }, context),
)

/**
 * Copy a file of the minion into its cache and return the path of the copy; an empty string if there is no such file.
 *
 * @example salt '*' cp.cache_local_file /etc/hosts
 */
export const cache_local_file = fn({ path: p.string() }, async ({ path }, context) => {
  const copy = localCopy(path, context)
  if (!(await isFile(path)) || copy === undefined) return ''
  if ((await isFile(copy)) && (await digestOf(copy, 'sha256')) === (await digestOf(path, 'sha256')))
    return copy
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
  await copyFile(path, copy)
  return copy
})

/**
 * List the names of the states of an environment, such as `web.nginx` for `web/nginx.sls`.
 *
 * @example salt '*' cp.list_states
 */
export const list_states = fn({ saltenv }, async ({ saltenv }, context) => {
  const files = await context.minion.files.list('files', environment(context, saltenv))
  const states = files.filter((path) => path.endsWith('.sls'))
  return [
    ...new Set(states.map((path) => path.replace(/(?:(?<=.)\/init)?\.sls$/, '').replaceAll('/', '.'))),
  ].sort()
})

/**
 * List the paths of the files on the file server.
 *
 * @example salt '*' cp.list_master
 */
export const list_master = fn(
  { saltenv, prefix: p.default(p.string(), '') },
  ({ saltenv, prefix }, context) => context.minion.files.list('files', environment(context, saltenv), prefix),
)

/**
 * List the paths of the folders on the file server.
 *
 * @example salt '*' cp.list_master_dirs
 */
export const list_master_dirs = fn(
  { saltenv, prefix: p.default(p.string(), '') },
  ({ saltenv, prefix }, context) => context.minion.files.list('dirs', environment(context, saltenv), prefix),
)

/**
 * Return the symbolic links on the file server and their targets.
 *
 * @example salt '*' cp.list_master_symlinks
 */
export const list_master_symlinks = fn(
  { saltenv, prefix: p.default(p.string(), '') },
  ({ saltenv, prefix }, context) => context.minion.files.links(environment(context, saltenv), prefix),
)

/**
 * List the paths of the files in the minion's cache.
 *
 * @example salt '*' cp.list_minion
 */
export const list_minion = fn({ saltenv }, ({ saltenv }, context) =>
  cachedFiles(environment(context, saltenv), context),
)

/**
 * Return the cached path of a file; an empty string if it is not cached.
 *
 * @example salt '*' cp.is_cached salt://path/to/file
 */
export const is_cached = fn({ path: p.string(), saltenv }, async ({ path, saltenv }, context) => {
  const found = serverPath(path, environment(context, saltenv)) ?? {
    path,
    saltenv: environment(context, saltenv),
  }
  const places = [
    context.minion.files.cachedPath(found.path.replace(/^[|/]+/, ''), found.saltenv),
    localCopy(found.path, context),
    externalCopy(path, found.saltenv, context),
  ]
  for (const place of places) if (place !== undefined && (await exists(place))) return place
  return ''
})

/**
 * Return the hash of a file on the file server or on the minion: a map of `hash_type` and `hsum`. If there is no such
 * file, it is an empty string for the file server, and an empty map for the minion.
 *
 * @example salt '*' cp.hash_file salt://path/to/file
 */
export const hash_file = fn({ path: p.string(), saltenv }, async ({ path, saltenv }, context) => {
  const found = serverPath(path, environment(context, saltenv))
  if (found) return (await context.minion.files.hash(found.path, found.saltenv)) ?? ''
  if (!(await isFile(path))) return [{}, null] // as in Salt
  const hash_type = String(context.opts.hash_type ?? 'sha256')
  return { hsum: await digestOf(path, hash_type), hash_type }
})

/**
 * Return the mode of a file on the file server or on the minion, as octal text or as a number; null if there is no such
 * file.
 *
 * @example salt '*' cp.stat_file salt://path/to/file
 */
export const stat_file = fn(
  { path: p.string(), saltenv, octal: p.default(p.boolean(), true) },
  async ({ path, saltenv, octal }, context) => {
    const found = serverPath(path, environment(context, saltenv))
    const mode = found
      ? (await context.minion.files.stat(found.path, found.saltenv))?.[0]
      : (await stat(path).catch(() => undefined))?.mode
    if (mode === undefined) return null
    return octal ? (mode & 0o7777).toString(8).padStart(4, '0') : mode
  },
)

/**
 * Send a file to the master, which stores it in `minions/<id>/files` of its cache. The master must have
 * `file_recv: True`. Fails with the reason where Salt returns False.
 *
 * @example salt '*' cp.push /etc/fstab
 * @example salt '*' cp.push /etc/system-release keep_symlinks=True
 * @example salt '*' cp.push /tmp/report upload_path=/new/path/report remove_source=True
 */
export const push = fn(
  {
    path: p.string(),
    keep_symlinks: p.default(p.boolean(), false),
    upload_path: p.optional(p.string()),
    remove_source: p.default(p.boolean(), false),
  },
  ({ path, ...options }, context) => pushFile(path, options, context),
)

/**
 * Send the files below a folder to the master; with `glob`, only those whose names match.
 *
 * @example salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'
 * @example salt '*' cp.push_dir /usr/lib/mysql upload_path=/newmysql/path
 */
export const push_dir = fn(
  { path: p.string(), glob: p.optional(p.string()), upload_path: p.optional(p.string()) },
  ({ path, glob, upload_path }, context) => pushFolder(path, glob, upload_path, context),
)

/**
 * Write files that `salt-cp` sends: a map of path to content.
 *
 * @example salt '*' cp.recv '{motd: "Hello\n"}' /etc/motd
 */
export const recv = fn({ files: p.record(p.any()), dest: p.string() }, ({ files, dest }, context) =>
  receiveFiles(files, dest, context),
)

/**
 * Write a piece of a file that `salt-cp --chunked` sends, in base64.
 *
 * @example salt '*' cp.recv_chunked /tmp/hello SGVsbG8K compressed=False
 */
export const recv_chunked = fn(
  {
    dest: p.string(),
    chunk: p.any({ description: 'Base64; None for an empty folder.' }),
    append: p.default(p.boolean(), false),
    compressed: p.default(p.boolean(), true),
    mode: p.optional(p.integer()),
  },
  ({ dest, chunk, ...how }, context) =>
    receiveChunk({ dest, chunk: chunk === null ? null : String(chunk), ...how }, context),
)

const listOf = (value: string | readonly string[] | undefined): readonly string[] | undefined =>
  typeof value === 'string' ? [value] : value

const isFile = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() ?? false

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

function requireAbsolute(dest: string): void {
  if (dest !== '' && !isAbsolute(dest))
    throw new SaltInvocationError(
      `'${dest}' must be an absolute path, because a job has no working directory`,
    )
}
