/** Read the database of dpkg, which is below apt, on Debian and systems made from it. */
import { CommandExecutionError, fn, p, type Virtual } from 'salt-ts'
import { changeWithApt } from './_apt/command.ts'
import { installedVersions, packageFiles, packageInfos } from './_apt/database.ts'
import { fileInfo } from './_apt/deb-file.ts'
import { listAgain, listInstalled } from './_apt/installed.ts'
import { changesBetween } from './_pkg/changes.ts'
import { packageName } from './_pkg/names.ts'

export const virtualName = 'lowpkg'
export const virtual: Virtual = ({ grains }) =>
  grains.os_family === 'Debian' ||
  'The dpkg execution module cannot be loaded: only works on Debian family systems.'

const packages = p.rest(p.string())

/**
 * Return name, version and architecture of a package file, which may be a URL such as salt://.
 *
 * @example salt '*' lowpkg.bin_pkg_info /root/foo-1.2.3-1ubuntu1_all.deb
 * @example salt '*' lowpkg.bin_pkg_info salt://foo-1.2.3-1ubuntu1_all.deb
 */
export const bin_pkg_info = fn(
  { path: p.string(), saltenv: p.default(p.string(), 'base') },
  async ({ path, saltenv }, context) => {
    if (!/^[a-z0-9+]+:\/\//i.test(path)) return fileInfo(path, context)
    const cached = await context.call('cp.cache_file', { path, saltenv })
    if (typeof cached === 'string' && cached !== '') return fileInfo(cached, context)
    throw new CommandExecutionError(`Unable to retrieve ${path} from saltenv '${saltenv}'`)
  },
)

/**
 * Set the selection of packages to install, and return which are not to be purged any more.
 *
 * @example salt '*' lowpkg.unpurge curl
 */
export const unpurge = fn({ packages }, async ({ packages }, context) => {
  if (packages.length === 0) return {}
  const old = await listInstalled({ purge_desired: true }, context)
  const stdin = packages.map((name) => `${packageName(name)} install`).join('\n')
  await changeWithApt(['dpkg', '--set-selections'], context, { input: stdin })
  return changesBetween(old, await listAgain({ purge_desired: true }, context))
})

/**
 * List installed packages as dpkg names them, and their versions.
 *
 * @example salt '*' lowpkg.list_pkgs
 * @example salt '*' lowpkg.list_pkgs hostname mount
 */
export const list_pkgs = fn({ packages }, ({ packages }, context) => installedVersions(packages, context))

/**
 * List the files of packages, or of all.
 *
 * @example salt '*' lowpkg.file_list hostname mount
 */
export const file_list = fn({ packages }, async ({ packages }, context) => {
  const files = await packageFiles(packages, context)
  if (typeof files === 'string') return files
  return { errors: [], files: [...new Set(Object.values(files).flat())].sort() }
})

/**
 * List the files of packages, or of all, by package.
 *
 * @example salt '*' lowpkg.file_dict hostname mount
 */
export const file_dict = fn({ packages }, async ({ packages }, context) => {
  const files = await packageFiles(packages, context)
  return typeof files === 'string' ? files : { errors: [], packages: files }
})

/**
 * Return what is known about packages, or about all.
 *
 * @example salt '*' lowpkg.info bash
 * @example salt '*' lowpkg.info 'php5*' failhard=False
 */
export const info = fn(
  { packages, failhard: p.default(p.boolean(), true) },
  ({ packages, failhard }, context) => packageInfos(packages, failhard, context),
)
