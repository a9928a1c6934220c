/**
 * Manage packages with pacman, on Arch Linux and systems made from it.
 *
 * If another program holds the lock of its databases, it is waited for, for up to five minutes.
 */
import { fn, p, type Virtual } from 'salt-ts'
import { installPackages, removePackages, upgradePackages } from './_pacman/change.ts'
import { listFiles, ownerOf } from './_pacman/files.ts'
import { groupDifference, groupInfo, listGroups } from './_pacman/groups.ts'
import {
  joinRepos,
  latestVersions,
  listJoined,
  listRepoPackages,
  listUpgrades,
  listVersions,
  refreshDatabases,
} from './_pacman/packages.ts'
import { listed } from './_pkg/names.ts'
import { parseTargets } from './_pkg/targets.ts'
import { chosenVersions, oneOrAll } from './_pkg/versions.ts'

export const virtualName = 'pkg'
export const virtual: Virtual = ({ grains }) =>
  grains.os_family === 'Arch' || 'The pacman module could not be loaded: unsupported OS family.'

const text = p.optional(p.string())
const list = p.optional(p.any({ description: 'A list of names, or of maps name → version.' }))
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const names = p.rest(p.string())
const same = (name: string) => name

/**
 * Install packages, or change them to a version, and return the changes. `name` may be several names separated by commas.
 * `pkgs` is a list of names or of maps name → version; a version may begin with an operator, or be a glob. `sources` is a
 * list of maps name → path or URL of a package file. `sysupgrade` upgrades all others too.
 *
 * @example salt '*' pkg.install vim
 * @example salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-4"}]' refresh=True sysupgrade=True
 * @example salt '*' pkg.install sources='[{"foo": "salt://foo.pkg.tar.xz"}]'
 */
export const install = fn(
  {
    name: text,
    refresh: flag(false),
    sysupgrade: p.optional(p.boolean()),
    pkgs: list,
    sources: list,
    version: text,
    root: text,
    saltenv: p.default(p.string(), 'base'),
  },
  async ({ refresh, sysupgrade, root, ...given }, context) => {
    const targets = await parseTargets(given, same, context)
    return targets ? installPackages(targets, { refresh, sysupgrade, root }, context) : {}
  },
)

const removal = { name: text, pkgs: list, root: text }

/**
 * Remove packages and return the changes.
 *
 * @example salt '*' pkg.remove vim
 * @example salt '*' pkg.remove pkgs='["foo", "bar"]'
 */
export const remove = fn(removal, async ({ root, ...given }, context) =>
  removePackages(await parseTargets(given, same, context), 'remove', root, context),
)

/**
 * Remove packages, those that need them, and those that were installed only for them, and return the changes.
 *
 * @example salt '*' pkg.purge vim
 * @example salt '*' pkg.purge pkgs='["foo", "bar"]'
 */
export const purge = fn(removal, async ({ root, ...given }, context) =>
  removePackages(await parseTargets(given, same, context), 'purge', root, context),
)

/**
 * Upgrade all packages and return the changes.
 *
 * @example salt '*' pkg.upgrade refresh=True
 */
export const upgrade = fn({ refresh: flag(false), root: text }, ({ refresh, root }, context) =>
  upgradePackages(refresh, root, context),
)

/**
 * Fetch the databases of the repositories. Returns for each true if it was fetched, and false if it had not changed.
 *
 * @example salt '*' pkg.refresh_db
 */
export const refresh_db = fn({ root: text }, ({ root }, context) => refreshDatabases(root, context), {
  returns: p.record(p.boolean()),
})

/**
 * List the installed packages and their versions.
 *
 * @example salt '*' pkg.list_pkgs
 * @example salt '*' pkg.list_pkgs versions_as_list=True
 */
export const list_pkgs = fn(
  {
    versions_as_list: flag(false),
    root: text,
    removed: flag(false),
    purge_desired: flag(false),
    use_context: flag(true),
  },
  async ({ versions_as_list, root, removed, purge_desired, use_context }, context) => {
    if (removed || purge_desired) return {}
    const found = await listVersions(context, { root, useContext: use_context })
    return versions_as_list ? found : listJoined(context, root)
  },
)

/**
 * Return the installed version of a package, or ''. For several names or a glob, a map.
 *
 * @example salt '*' pkg.version vim
 */
export const version = fn(
  { names, versions_as_list: flag(false), root: text },
  async ({ names, versions_as_list, root }, context) =>
    chosenVersions(names, await listVersions(context, { root }), versions_as_list),
)

/**
 * Return the version that is available of a package, or '' if it is installed already. For several names, a map.
 *
 * @example salt '*' pkg.latest_version vim
 * @example salt '*' pkg.latest_version vim nano refresh=True
 */
export const latest_version = fn(
  { names, refresh: flag(false), root: text },
  async ({ names, refresh, root }, context) => {
    if (names.length === 0) return ''
    if (refresh) await refreshDatabases(root, context)
    return oneOrAll(await latestVersions(names, root, context), names)
  },
)

/**
 * Alias of `pkg.latest_version`.
 *
 * @example salt '*' pkg.available_version vim
 */
export { latest_version as available_version }

/**
 * True if a later version of a package is available, or it is not installed and could be.
 *
 * @example salt '*' pkg.upgrade_available vim
 */
export const upgrade_available = fn(
  { name: p.string() },
  async ({ name }, context) => (await latestVersions([name], undefined, context))[name] !== '',
  { returns: p.boolean() },
)

/**
 * List the packages that an upgrade would change, and their new versions.
 *
 * @example salt '*' pkg.list_upgrades refresh=True
 */
export const list_upgrades = fn(
  { refresh: flag(false), root: text },
  ({ refresh, root }, context) => listUpgrades(refresh, root, context),
  { returns: p.record(p.string()) },
)

/**
 * List the versions of packages in the repositories, the newest first; with `byrepo` by repository. Names may be globs.
 *
 * @example salt '*' pkg.list_repo_pkgs
 * @example salt '*' pkg.list_repo_pkgs 'samba4*' fromrepo=core,extra byrepo=True
 */
export const list_repo_pkgs = fn(
  { args: names, fromrepo: text, byrepo: flag(false), refresh: flag(false) },
  async ({ args, fromrepo, byrepo, refresh }, context) => {
    if (refresh) await refreshDatabases(undefined, context)
    const found = await listRepoPackages(args, listed(fromrepo), context)
    return byrepo ? found : joinRepos(found)
  },
)

/**
 * List the groups of packages, by how much of them is installed.
 *
 * @example salt '*' pkg.group_list
 */
export const group_list = fn((_, context) => listGroups(context))

/**
 * Return the packages of a group.
 *
 * @example salt '*' pkg.group_info xorg
 */
export const group_info = fn({ name: p.string() }, ({ name }, context) => groupInfo(name, context))

/**
 * Return which packages of a group are installed and which are not.
 *
 * @example salt '*' pkg.group_diff xorg
 */
export const group_diff = fn({ name: p.string() }, ({ name }, context) => groupDifference(name, context))

/**
 * List the files of packages, or of all. If the first name is the path of a folder, it is another root.
 *
 * @example salt '*' pkg.file_list httpd postfix
 */
export const file_list = fn({ packages: names }, async ({ packages }, context) => {
  const { errors, packages: found } = await listFiles(packages, context)
  return { errors, files: Object.values(found).flat() }
})

/**
 * List the files of packages, or of all, by package. If the first name is the path of a folder, it is another root.
 *
 * @example salt '*' pkg.file_dict httpd postfix
 */
export const file_dict = fn({ packages: names }, ({ packages }, context) => listFiles(packages, context))

/**
 * Return the package that owns a file, or ''. For several paths, a map.
 *
 * @example salt '*' pkg.owner /usr/bin/apachectl
 * @example salt '*' pkg.owner /usr/bin/apachectl /usr/bin/zsh
 */
export const owner = fn({ paths: names }, ({ paths }, context) => ownerOf(paths, context))
