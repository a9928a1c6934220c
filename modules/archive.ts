/**
 * Pack, unpack and list archives, with the programs of this host.
 *
 * Sources are a list, or comma-separated text; shell patterns in them are expanded.
 */
import {
  CommandExecutionError,
  CommandNotFoundError,
  type Context,
  fn,
  p,
  SaltInvocationError,
} from 'salt-ts'
import {
  byCodePoint,
  cacheArchive,
  contentsOf,
  described,
  formatOf,
  located,
  removeCached,
  requireFile,
  stripped,
} from './_archive/list.ts'
import { renderPaths, runArchiver, unzipEnv } from './_archive/program.ts'
import { asPath, expandSources, namesOf } from './_archive/sources.ts'
import { makeZip, unpackZip } from './_archive/zip.ts'
import { readZipDirectory } from './_archive/zip-directory.ts'
import { linesOf } from './_cmd/lines.ts'
import { splitWords } from './_cmd/split.ts'
import { which } from './_cmd/which.ts'

const text = p.optional(p.string())
const sources = p.union(p.string(), p.number(), p.array(p.any()))
const excludes = p.optional(p.union(p.string(), p.number(), p.array(p.any())))
const trim_output = p.default(p.union(p.boolean(), p.integer()), false)
const source = {
  saltenv: p.default(p.string(), 'base'),
  source_hash: text,
  use_etag: p.default(p.boolean(), false),
}

/**
 * List the files of a tar, zip or rar archive: a path, or a URL (salt://, http://, https://). With `verbose` returns a map of
 * `dirs`, `files`, `links` and those at the top level. `options` is a command that decompresses a tar archive to its
 * stdout, if tar does not know the compression.
 *
 * @example salt '*' archive.list /path/to/myfile.tar.gz strip_components=1
 * @example salt '*' archive.list salt://foo.zip
 * @example salt '*' archive.list https://example.com/foo.tar source_hash=sha256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
 * @example salt '*' archive.list /path/to/foo verbose=True archive_format=tar
 */
const list_ = fn(
  {
    name: p.string(),
    archive_format: text,
    options: text,
    strip_components: p.optional(p.integer()),
    clean: p.default(p.boolean(), false),
    verbose: p.default(p.boolean(), false),
    ...source,
  },
  async ({ name, archive_format, options, strip_components, clean, verbose, ...rest }, context) => {
    if (strip_components !== undefined && strip_components < 0)
      throw new CommandExecutionError("'strip_components' must be a positive integer")
    const cached = await cacheArchive(name, rest, context)
    const listed = await located(cached, async () => {
      const format = formatOf(name, archive_format)
      if (format !== 'rar') await requireFile(cached, `Failed to list contents of ${name}: `)
      return contentsOf({ name, cached, options }, format, context)
    })
    const contents = stripped(listed, strip_components ?? 0)
    if (clean) await removeCached(cached, context)
    if (verbose) return described(contents)
    return [...contents.dirs, ...contents.files, ...contents.links].sort(byCodePoint)
  },
)

export { list_ as list }

/**
 * Run tar and return its output, as lines. `options` are those of tar, with or without a `-`; the last of short ones is `f`.
 *
 * @example salt '*' archive.tar cjvf /tmp/tarfile.tar.bz2 /tmp/file_1,/tmp/file_2
 * @example salt '*' archive.tar xf foo.tar dest=/target/directory
 * @example salt '*' archive.tar cjvf /tmp/tarfile.tar.bz2 '/tmp/file_*' cwd=/tmp
 */
export const tar = fn(
  {
    options: p.string(),
    tarfile: p.string(),
    sources: p.optional(sources),
    dest: text,
    cwd: text,
    template: text,
    runas: text,
  },
  async ({ options, tarfile, sources, dest, cwd, template, runas }, context) => {
    const [archive, from] = await renderPaths([tarfile, sources] as const, template, context)
    const words = options.split(/\s+/).filter(Boolean)
    if (words.length === 0) throw new SaltInvocationError('Tar options can not be empty')
    const more = [...(await expandSources(from, cwd)), ...(dest ? ['-C', dest] : [])]
    const { stdout } = await runArchiver(['tar', ...words, asPath(archive), ...more], { cwd, runas }, context)
    return linesOf(stdout)
  },
)

/**
 * Compress a file with gzip, which replaces it.
 *
 * @example salt '*' archive.gzip /tmp/sourcefile.txt
 * @example salt '*' archive.gzip /tmp/sourcefile.txt options='--verbose'
 */
export const gzip = fn(
  { sourcefile: p.string(), template: text, runas: text, options: text },
  async ({ sourcefile, ...how }, context) => runOnFile('gzip', sourcefile, how, context),
)

/**
 * Decompress a file with gunzip, which replaces it.
 *
 * @example salt '*' archive.gunzip /tmp/sourcefile.txt.gz
 * @example salt '*' archive.gunzip /tmp/sourcefile.txt.gz options='--verbose'
 */
export const gunzip = fn(
  { gzipfile: p.string(), template: text, runas: text, options: text },
  async ({ gzipfile, ...how }, context) => runOnFile('gunzip', gzipfile, how, context),
)

/**
 * Run zip, add files and folders to a ZIP file, and return the output of zip, as lines.
 *
 * @example salt '*' archive.cmd_zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2
 * @example salt '*' archive.cmd_zip /tmp/zipfile.zip 'sourcefile*' cwd=/tmp
 */
export const cmd_zip = fn(
  { zip_file: p.string(), sources, template: text, cwd: text, runas: text },
  async ({ zip_file, sources, template, cwd, runas }, context) => {
    const [archive, from] = await renderPaths([zip_file, sources] as const, template, context)
    const words = ['zip', '-r', asPath(archive), ...(await expandSources(from, cwd))] as const
    return linesOf((await runArchiver(words, { cwd, runas }, context)).stdout)
  },
)

/**
 * Make a new ZIP file and return the names in it: relative to `cwd`, or else to the root.
 *
 * @example salt '*' archive.zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2
 * @example salt '*' archive.zip /tmp/zipfile.zip 'sourcefile*' cwd=/tmp
 */
export const zip = fn(
  {
    zip_file: p.string(),
    sources,
    template: text,
    cwd: text,
    runas: text,
    zip64: p.default(p.boolean({ description: 'Has no effect: large files are always possible.' }), false),
  },
  async ({ zip_file, sources, template, cwd, runas }, context) => {
    const [archive, from] = await renderPaths([zip_file, sources] as const, template, context)
    return makeZip(archive, from, { cwd, runas }, context)
  },
)

/**
 * Run unzip and return its output, as lines. `excludes` are patterns of unzip.
 *
 * @example salt '*' archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2
 */
export const cmd_unzip = fn(
  {
    zip_file: p.string(),
    dest: p.string(),
    excludes,
    options: text,
    template: text,
    runas: text,
    trim_output,
    password: p.secret(text),
  },
  async ({ zip_file, dest, excludes, options, template, runas, trim_output, password }, context) => {
    const [archive, folder] = await renderPaths([zip_file, dest] as const, template, context)
    const { retcode, stdout } = await runArchiver(
      [
        ...(['unzip', ...splitWords(options ?? '')] as const),
        ...[asPath(archive), '-d', asPath(folder)],
        ...(excludes === undefined ? [] : ['-x', ...namesOf(excludes).map(asPath)]),
      ],
      { runas, throws: true, env: unzipEnv(password) },
      context,
    )
    if (retcode !== 0) throw new CommandExecutionError(stdout)
    return trimmed(linesOf(stdout), trim_output)
  },
)

/**
 * Unpack a ZIP file, over existing files, and return the names of what was unpacked. `excludes` are names. With
 * `trim_output` at most 100 names are returned, or as many as it says.
 *
 * @example salt '*' archive.unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2
 * @example salt '*' archive.unzip /tmp/zipfile.zip /home/strongbad/ password='BadPassword'
 */
export const unzip = fn(
  {
    zip_file: p.string(),
    dest: p.string(),
    excludes,
    options: text,
    template: text,
    runas: text,
    trim_output,
    password: p.secret(text),
    extract_perms: p.default(p.boolean(), true),
  },
  async ({ zip_file, dest, excludes, template, trim_output, ...how }, context) => {
    const [archive, folder] = await renderPaths([zip_file, dest] as const, template, context)
    const names = await unpackZip(archive, folder, { ...how, excludes: namesOf(excludes) }, context)
    return trimmed(names, trim_output)
  },
)

/**
 * Whether a ZIP file has encrypted members: a path, or a URL.
 *
 * @example salt '*' archive.is_encrypted /path/to/myfile.zip
 * @example salt '*' archive.is_encrypted salt://foo.zip
 */
export const is_encrypted = fn(
  { name: p.string(), clean: p.default(p.boolean(), false), ...source },
  async ({ name, clean, ...rest }, context) => {
    const cached = await cacheArchive(name, rest, context)
    const members = await located(cached, async () => {
      await requireFile(cached)
      const found = await readZipDirectory(cached)
      if (!found) throw new CommandExecutionError(`${name} is not a ZIP file`)
      return found
    })
    if (clean) await removeCached(cached, context)
    return members.some(({ isEncrypted }) => isEncrypted)
  },
)

/**
 * Make a RAR file with rar, and return its output, as lines.
 *
 * @example salt '*' archive.rar /tmp/rarfile.rar /tmp/sourcefile1,/tmp/sourcefile2
 * @example salt '*' archive.rar /tmp/rarfile.rar '/tmp/sourcefile*' cwd=/tmp
 */
export const rar = fn(
  { rarfile: p.string(), sources, template: text, cwd: text, runas: text },
  async ({ rarfile, sources, template, cwd, runas }, context) => {
    const [archive, from] = await renderPaths([rarfile, sources] as const, template, context)
    const words = ['rar', 'a', '-idp', asPath(archive), ...(await expandSources(from, cwd))] as const
    return linesOf((await runArchiver(words, { cwd, runas }, context)).stdout)
  },
)

/**
 * Unpack a RAR file with unrar or rar, and return its output, as lines.
 *
 * @example salt '*' archive.unrar /tmp/rarfile.rar /home/strongbad/ excludes=file_1,file_2
 */
export const unrar = fn(
  { rarfile: p.string(), dest: p.string(), excludes, template: text, runas: text, trim_output },
  async ({ rarfile, dest, excludes, template, runas, trim_output }, context) => {
    const [archive, folder] = await renderPaths([rarfile, dest] as const, template, context)
    const program = (await which('unrar')) ?? (await which('rar'))
    if (program === null)
      throw new CommandNotFoundError(`None of provided binaries(["'unrar'", "'rar'"]) were found in $PATH.`)
    const left = namesOf(excludes).flatMap((name) => ['-x', name])
    const words = [program, 'x', '-idp', asPath(archive), ...left, asPath(folder)] as const
    return trimmed(linesOf((await runArchiver(words, { runas }, context)).stdout), trim_output)
  },
)

async function runOnFile(
  program: string,
  file: string,
  how: { template: string | undefined; runas: string | undefined; options: string | undefined },
  context: Context,
): Promise<string[]> {
  const path = await renderPaths(file, how.template, context)
  const words = [program, ...(how.options ? [how.options] : []), asPath(path)] as const
  return linesOf((await runArchiver(words, { runas: how.runas }, context)).stdout)
}

const MOST_NAMES = 100

function trimmed(names: string[], trim: boolean | number): string[] {
  if (trim === false) return names
  const most = trim === true ? MOST_NAMES : Number(trim)
  return names.length > most ? [...names.slice(0, most), `List trimmed after ${most} files.`] : names
}
