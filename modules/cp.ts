/**
 * Bring files to the minion, from the master's file server (`salt://`) or by http, and to the master.
 *
 * `saltenv` is the environment of the file server, if the URL does not name one (`salt://a?saltenv=dev`): by default the
 * option `saltenv`, else base. What the minion has already, by its hash, is not sent again.
 */
import { copyFile, mkdir, stat } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import { CommandExecutionError, eachOf, fn, p, SaltInvocationError } from 'salt-ts'
import { digestOf } from './_cp/digest.ts'
import { cacheUrl, contentOf, fetchServerFile, fetchUrl } from './_cp/fetch.ts'
import { cachedFiles, cacheFolder, fetchFolder } from './_cp/folders.ts'
import { environment, externalCopy, localCopy, requireServerPath, serverPath } from './_cp/places.ts'
import { pushFile, pushFolder } from './_cp/push.ts'
import { receiveChunk, receiveFiles } from './_cp/receive.ts'

const saltenv = p.optional(p.string())
const gzip = p.optional(p.integer({ minimum: 0, maximum: 9, description: 'Compression on the way, 1 to 9' }))
const template = p.optional(p.string())
const source_hash = p.optional(
  p.string({
    description: 'Digest the file must have, as in sha256=…; what is cached and has it is not fetched again',
  }),
)
const patterns = p.optional(p.union(p.string(), p.array(p.string())))

/**
 * Copy a file of the file server to the minion. Gives its path; an empty text if the master has no such file, false if
 * there is no folder to put it in. It is replaced as a whole, after its hash was found right.
 *
 * @example salt '*' cp.get_file salt://path/to/file /minion/dest
 * @example salt '*' cp.get_file salt://foo/bar.conf /etc/foo/bar.conf saltenv=config makedirs=True gzip=5
 */
export const get_file = fn(
  { path: p.string(), dest: p.string(), saltenv, makedirs: p.default(p.boolean(), false), template, gzip },
  async ({ path, dest, ...options }, context) => {
    refuseTemplate(options.template)
    const found = requireServerPath(path, environment(context, options.saltenv))
    requireAbsolute(dest)
    if (!(await context.minion.files.hash(found.path, found.saltenv))) return ''
    return fetchServerFile(found, dest, options, context)
  },
)

/**
 * The environments of the file server.
 *
 * @example salt '*' cp.envs
 */
export const envs = fn((_, { minion }) => minion.files.envs())

/**
 * Render a file as a template. Refused until there are renderers.
 *
 * @example salt '*' cp.get_template salt://path/to/template /minion/dest
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
  ({ template }) => refuseTemplate(template),
)

/**
 * Copy a folder of the file server with all that is in it, empty folders too. Gives the paths that are there now.
 *
 * @example salt '*' cp.get_dir salt://path/to/dir/ /minion/dest
 */
export const get_dir = fn(
  { path: p.string(), dest: p.string(), saltenv, template, gzip },
  ({ path, dest, ...options }, context) => {
    refuseTemplate(options.template)
    requireAbsolute(dest)
    return fetchFolder(
      requireServerPath(path, environment(context, options.saltenv)),
      dest,
      options.gzip,
      context,
    )
  },
)

/**
 * Fetch a file by salt://, http:// or https:// to `dest`, or into the cache if that is empty, and give its path; of a
 * file of the minion (file://, or no scheme) give the path. With `dest=None` give the content instead.
 *
 * @example salt '*' cp.get_url salt://my/file /tmp/this_file_is_mine
 * @example salt '*' cp.get_url https://example.com/a.tgz source_hash=sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 */
export const get_url = fn(
  {
    path: p.string(),
    dest: p.default(p.any({ description: 'A path; empty: the cache; None: give the content' }), ''),
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
 * The content of a file, which is cached; false if there is no such file.
 *
 * @example salt '*' cp.get_file_str salt://my/file
 */
export const get_file_str = fn({ path: p.string(), saltenv }, async ({ path, saltenv }, context) => {
  const cached = await cacheUrl(path, { saltenv }, context)
  return typeof cached === 'string' ? contentOf(cached).catch(() => false) : cached
})

/**
 * Bring a file into the minion's cache and give its place there; false if there is no such file.
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
 * Where the cache would have a URL, whether it has it or not.
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
    `${url} has no place in the cache: its path leads out of it, or it cannot be fetched`,
  )
})

/**
 * Bring several files into the cache; a list, or one text with commas.
 *
 * @example salt '*' cp.cache_files salt://pathto/file1,salt://pathto/file2?saltenv=dev
 */
export const cache_files = fn(
  { paths: p.union(p.string(), p.array(p.string())), saltenv },
  ({ paths, saltenv }, context) =>
    eachOf(typeof paths === 'string' ? paths.split(',') : paths, (path) =>
      cacheUrl(path, { saltenv }, context),
    ),
)

/**
 * Bring a folder into the cache. The patterns are shell patterns of whole paths, or after `E@` regular expressions.
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
 * Bring all files of an environment into the cache.
 *
 * @example salt '*' cp.cache_master
 */
export const cache_master = fn({ saltenv }, ({ saltenv }, context) =>
  cacheFolder({ path: '', saltenv: environment(context, saltenv) }, { include_empty: false }, context),
)

/**
 * Keep a copy of a file of the minion in its cache. Gives the place of the copy; an empty text if there is no file.
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
 * Names of the state files of an environment, as states are called.
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
 * Paths of the files on the file server.
 *
 * @example salt '*' cp.list_master
 */
export const list_master = fn(
  { saltenv, prefix: p.default(p.string(), '') },
  ({ saltenv, prefix }, context) => context.minion.files.list('files', environment(context, saltenv), prefix),
)

/**
 * Paths of the folders on the file server.
 *
 * @example salt '*' cp.list_master_dirs
 */
export const list_master_dirs = fn(
  { saltenv, prefix: p.default(p.string(), '') },
  ({ saltenv, prefix }, context) => context.minion.files.list('dirs', environment(context, saltenv), prefix),
)

/**
 * The links on the file server, and where they lead.
 *
 * @example salt '*' cp.list_master_symlinks
 */
export const list_master_symlinks = fn(
  { saltenv, prefix: p.default(p.string(), '') },
  ({ saltenv, prefix }, context) => context.minion.files.links(environment(context, saltenv), prefix),
)

/**
 * Paths of the files in the minion's cache.
 *
 * @example salt '*' cp.list_minion
 */
export const list_minion = fn({ saltenv }, ({ saltenv }, context) =>
  cachedFiles(environment(context, saltenv), context),
)

/**
 * Where the cache has a file; an empty text if it has not.
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
 * The hash of a file on the file server, or of the minion: a map of `hash_type` and `hsum`, empty if there is no such file.
 *
 * @example salt '*' cp.hash_file salt://path/to/file
 */
export const hash_file = fn({ path: p.string(), saltenv }, async ({ path, saltenv }, context) => {
  const found = serverPath(path, environment(context, saltenv))
  if (found) return (await context.minion.files.hash(found.path, found.saltenv)) ?? ''
  if (!(await isFile(path))) return {}
  const hash_type = String(context.opts.hash_type ?? 'sha256')
  return { hsum: await digestOf(path, hash_type), hash_type }
})

/**
 * The mode of a file on the file server, or of the minion, as octal text or as a number; null if there is no such file.
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
 * Send a file to the master, which keeps it in `minions/<id>/files` of its cache. The master must have
 * `file_recv: True`. Fails, with the reason, where Salt answers False.
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
 * Send the files of a folder to the master, of those whose names match `glob` if that is given.
 *
 * @example salt '*' cp.push_dir /etc/modprobe.d/ glob='*.conf'
 * @example salt '*' cp.push_dir /usr/lib/mysql upload_path=/newmysql/path
 */
export const push_dir = fn(
  { path: p.string(), glob: p.optional(p.string()), upload_path: p.optional(p.string()) },
  ({ path, glob, upload_path }, context) => pushFolder(path, glob, upload_path, context),
)

/**
 * Write files that `salt-cp` sends: a map of path and content.
 *
 * @example salt '*' cp.recv '{motd: "Hello\n"}' /etc/motd
 */
export const recv = fn({ files: p.record(p.any()), dest: p.string() }, ({ files, dest }) =>
  receiveFiles(files, dest),
)

/**
 * Write a piece of a file that `salt-cp --chunked` sends, in base64.
 *
 * @example salt '*' cp.recv_chunked /tmp/hello SGVsbG8K compressed=False
 */
export const recv_chunked = fn(
  {
    dest: p.string(),
    chunk: p.any({ description: 'Base64; None for an empty folder' }),
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

function refuseTemplate(template: string | undefined): void {
  if (template === undefined || template === '') return
  throw new CommandExecutionError(
    `Nothing can be rendered as ${template} yet: salt-ts has no renderers. cp.get_file without template copies the file as it is.`,
  )
}

function requireAbsolute(dest: string): void {
  if (dest !== '' && !isAbsolute(dest))
    throw new SaltInvocationError(
      `'${dest}' must be an absolute path, because a job has no folder of its own`,
    )
}
