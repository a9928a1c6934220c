/**
 * Manage packages with apk, on Alpine Linux.
 *
 * If another program holds the lock of its database, it is waited for, for up to five minutes.
 */
import { fn, p, type Virtual } from 'salt-ts'
import { installPackages, removePackages, upgradePackages } from './_apk/change.ts'
import {
  filesOf,
  latestVersions,
  listJoined,
  listUpgrades,
  listVersions,
  ownersOf,
  refreshLists,
} from './_apk/packages.ts'
import { parseTargets } from './_pkg/targets.ts'
import { chosenVersions, oneOrAll } from './_pkg/versions.ts'

export const virtualName = 'pkg'
export const virtual: Virtual = ({ grains }) =>
  grains.os_family === 'Alpine' || 'Module apk only works on Alpine Linux based systems'

const text = p.optional(p.string())
const list = p.optional(p.any({ description: 'A list of names, or of maps name → version.' }))
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const names = p.rest(p.string())
const same = (name: string) => name

/**
 * Install packages, or upgrade them if they are installed, and return the changes. `name` may be several names separated by
 * commas. `pkgs` is a list of names or of maps name → version, which may begin with an operator; `sources` is a list of maps
 * name → path or URL of a package file.
 *
 * @example salt '*' pkg.install vim
 * @example salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-r0"}]' refresh=True
 */
export const install = fn(
  {
    name: text,
    refresh: flag(false),
    pkgs: list,
    sources: list,
    version: text,
    saltenv: p.default(p.string(), 'base'),
  },
  async ({ refresh, ...given }, context) => {
    const targets = await parseTargets(given, same, context)
    if (!targets) return {}
    if (refresh) await refreshLists(context)
    return installPackages(targets, context)
  },
)

/**
 * Remove packages and return the changes.
 *
 * @example salt '*' pkg.remove vim
 * @example salt '*' pkg.remove foo,bar
 * @example salt '*' pkg.remove pkgs='["foo", "bar"]'
 */
export const remove = fn(
  { name: text, pkgs: list, purge: flag(false) },
  async ({ purge, ...given }, context) =>
    removePackages(await parseTargets(given, same, context), purge, context),
)

/**
 * Remove packages with the files of theirs that were changed here, and return the changes.
 *
 * @example salt '*' pkg.purge vim
 */
export const purge = fn({ name: text, pkgs: list }, async (given, context) =>
  removePackages(await parseTargets(given, same, context), true, context),
)

/**
 * Upgrade all packages, or those of `name` or `pkgs`. Returns the changes, whether apk succeeded, and what it said if not.
 *
 * @example salt '*' pkg.upgrade
 * @example salt '*' pkg.upgrade name=openssl
 */
export const upgrade = fn(
  { name: text, pkgs: list, refresh: flag(true) },
  async ({ name, pkgs, refresh }, context) => {
    if (refresh) await refreshLists(context)
    const targets = name || pkgs ? await parseTargets({ name, pkgs }, same, context) : undefined
    return upgradePackages(targets?.from === 'repository' ? [...targets.packages.keys()] : [], context)
  },
)

/**
 * Fetch the lists of packages.
 *
 * @example salt '*' pkg.refresh_db
 */
export const refresh_db = fn((_, context) => refreshLists(context))

/**
 * List the installed packages and their versions.
 *
 * @example salt '*' pkg.list_pkgs
 * @example salt '*' pkg.list_pkgs versions_as_list=True
 */
export const list_pkgs = fn(
  {
    versions_as_list: flag(false),
    removed: flag(false),
    purge_desired: flag(false),
    use_context: flag(true),
  },
  async ({ versions_as_list, removed, purge_desired, use_context }, context) => {
    if (removed || purge_desired) return {}
    const found = await listVersions(context, use_context)
    return versions_as_list ? found : listJoined(context)
  },
)

/**
 * Return the installed version of a package, or ''. For several names or a glob, a map.
 *
 * @example salt '*' pkg.version vim
 */
export const version = fn(
  { names, versions_as_list: flag(false) },
  async ({ names, versions_as_list }, context) =>
    chosenVersions(names, await listVersions(context), versions_as_list),
)

/**
 * Return the version that is available of a package, or '' if it is installed already. For several names, a map.
 *
 * @example salt '*' pkg.latest_version vim
 * @example salt '*' pkg.latest_version vim nano refresh=False
 */
export const latest_version = fn({ names, refresh: flag(true) }, async ({ names, refresh }, context) => {
  if (names.length === 0) return ''
  if (refresh) await refreshLists(context)
  return oneOrAll(await latestVersions(names, context), names)
})

/**
 * List the packages that an upgrade would change, and their new versions.
 *
 * @example salt '*' pkg.list_upgrades
 */
export const list_upgrades = fn({ refresh: flag(true) }, async ({ refresh }, context) => {
  if (refresh) await refreshLists(context)
  return listUpgrades(context)
})

const files = fn({ packages: names }, async ({ packages }, context) =>
  packages.length === 0
    ? 'Package name should be provided'
    : { errors: [] as string[], packages: await filesOf(packages, context) },
)

/**
 * List the files of packages, by package, as `pkg.file_dict` does.
 *
 * @example salt '*' pkg.file_list httpd postfix
 */
/**
 * List the files of packages, by package.
 *
 * @example salt '*' pkg.file_dict httpd postfix
 */
export { files as file_list, files as file_dict }

/**
 * Return the packages that own files, with their versions, by path.
 *
 * @example salt '*' pkg.owner /usr/bin/apachectl /usr/bin/basename
 */
export const owner = fn({ paths: names }, async ({ paths }, context) =>
  paths.length === 0 ? 'You must provide a path' : ownersOf(paths, context),
)
