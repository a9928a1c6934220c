/**
 * Manage packages with dnf or yum and rpm, on Red Hat's systems and those made from them.
 *
 * If another program holds their lock, it is waited for, for up to five minutes.
 */
import { fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { changesBetween, problem } from './_pkg/changes.ts'
import { withoutEpoch } from './_pkg/comparison.ts'
import { heldNames } from './_pkg/hold.ts'
import { listed } from './_pkg/names.ts'
import { parseTargets } from './_pkg/targets.ts'
import { chosenVersions, oneOrAll } from './_pkg/versions.ts'
import { splitArch, withoutNativeArch } from './_rpm/arch.ts'
import { joinRepos, latestVersions, listRepoPackages, listUpgradable } from './_rpm/available.ts'
import { differences } from './_rpm/difference.ts'
import { download as downloadPackages } from './_rpm/download.ts'
import { listDownloaded } from './_rpm/files.ts'
import { groupDifference, groupInfo, listGroups, missingOf } from './_rpm/groups.ts'
import { HOLD_PATTERN, holdPackages, listHolds, unholdPackages } from './_rpm/holds.ts'
import { packageInfos } from './_rpm/info.ts'
import { installPackages } from './_rpm/install.ts'
import {
  forgetInstalled,
  listAttributes,
  listJoined,
  listVersions,
  readInstalled,
  withAttributes,
} from './_rpm/installed.ts'
import {
  expireLists,
  isDnf,
  managerName,
  type RepoOptions,
  readManager,
  repoArgs,
  repoParams,
  runManager,
} from './_rpm/manager.ts'
import { listPatches } from './_rpm/patches.ts'
import {
  fileDict,
  fileList,
  modified as modifiedFiles,
  ownerOf,
  verify as verifyPackages,
} from './_rpm/query.ts'
import { removePackages } from './_rpm/remove.ts'
import { changeRepo, deleteRepo, findRepo, listRepos } from './_rpm/repos.ts'
import { outdatedServices } from './_rpm/services.ts'
import { compareRpmVersions } from './_rpm/version.ts'

const FAMILIES = ['amazon', 'xcp', 'xenserver', 'virtuozzolinux', 'virtuozzo', 'issabel pbx', 'openeuler']

export const virtualName = 'pkg'
export const virtual: Virtual = async ({ grains }) => {
  const isRedHat = String(grains.os_family).toLowerCase() === 'redhat'
  if (!isRedHat && !FAMILIES.includes(String(grains.os).toLowerCase()))
    return 'Module yumpkg: no yum based system detected'
  for (const name of ['dnf5', 'dnf', 'tdnf', 'yum']) if ((await which(name)) !== null) return true
  return 'DNF nor YUM found'
}

const text = p.optional(p.string())
const anything = p.optional(p.any())
const list = p.optional(p.any({ description: 'A list of names, or of maps name → version.' }))
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const names = p.rest(p.string())
const texts = p.optional(p.union(p.string(), p.array(p.string())))
const same = (name: string) => name

const installParams = {
  skip_verify: flag(false),
  pkgs: list,
  sources: list,
  downloadonly: flag(false),
  reinstall: flag(false),
  normalize: flag(true),
  update_holds: flag(false),
  saltenv: p.default(p.string(), 'base'),
  ignore_epoch: flag(false),
  version: text,
  split_arch: flag(true),
  diff_attr: texts,
  advisory_ids: texts,
  ...repoParams,
} as const

/**
 * Install packages, or change them to a version, and return the changes. `name` may be several names separated by commas.
 * `pkgs` is a list of names or of maps name → version; a version may begin with an operator, or be a glob. `sources` is a
 * list of maps name → path or URL of a package file. With `downloadonly` they are downloaded only, with `update_holds` held
 * ones are changed too, and with `diff_attr` the changes show these attributes.
 *
 * @example salt '*' pkg.install vim
 * @example salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-4.el9"}]' fromrepo=epel
 * @example salt '*' pkg.install sources='[{"foo": "salt://foo.rpm"}]'
 * @example salt '*' pkg.install advisory_ids='["RHSA-2024:1234"]'
 */
export const install = fn(
  { name: text, refresh: flag(false), ...installParams },
  async ({ refresh, normalize, advisory_ids, diff_attr, ...given }, context) => {
    if (refresh) await expireLists(given, context)
    const attr = listed(diff_attr)
    if (advisory_ids !== undefined) {
      const ids = listed(advisory_ids)
      const chosen = ids.length > 0 ? ids : listed(given.name)
      return installPackages({ from: 'advisories', ids: chosen }, { ...given, attr }, context)
    }
    const strips = normalize && given.split_arch
    const nameOf = strips ? (name: string) => withoutNativeArch(name, context.grains) : same
    const targets = await parseTargets(given, nameOf, context)
    return targets ? installPackages(targets, { ...given, attr }, context) : {}
  },
)

const removal = { name: text, pkgs: list, split_arch: flag(true) }

/**
 * Remove packages and return the changes. Names may be globs.
 *
 * @example salt '*' pkg.remove vim
 * @example salt '*' pkg.remove foo,bar
 * @example salt '*' pkg.remove pkgs='["foo", "bar"]'
 */
export const remove = fn(removal, async ({ split_arch, ...given }, context) => {
  const normalize = (name: string) => withoutNativeArch(name, context.grains)
  return removePackages(await parseTargets(given, normalize, context), split_arch, context)
})

/**
 * Remove packages, as `pkg.remove` does.
 *
 * @example salt '*' pkg.purge vim
 */
export const purge = fn(removal, ({ name, pkgs, split_arch }, context) =>
  remove.run({ name, pkgs, split_arch }, context),
)

const upgradeParams = (obsoletes: boolean) => ({
  name: text,
  pkgs: list,
  refresh: flag(true),
  skip_verify: flag(false),
  normalize: flag(true),
  minimal: flag(false),
  obsoletes: flag(obsoletes),
  diff_attr: texts,
  ...repoParams,
  kwargs: p.keywords(p.any()),
})

/**
 * Upgrade all packages, or those of `name` or `pkgs`, and return the changes. `minimal` takes the earliest versions that
 * solve a problem; without `obsoletes`, packages that others replace stay. Further arguments are options of dnf or yum.
 *
 * @example salt '*' pkg.upgrade
 * @example salt '*' pkg.upgrade name=openssl
 * @example salt '*' pkg.upgrade security=True exclude='kernel*'
 */
export const upgrade = fn(upgradeParams(true), async ({ refresh, diff_attr, ...given }, context) => {
  const { name, pkgs, skip_verify, minimal, obsoletes, kwargs, ...repos } = given
  if (refresh) await expireLists(repos, context)
  const attr = listed(diff_attr)
  const old = await listAttributes(attr, context)
  const nameOf = given.normalize ? (one: string) => withoutNativeArch(one, context.grains) : same
  const targets = name || pkgs ? await parseTargets({ name, pkgs }, nameOf, context) : undefined
  const chosen = targets?.from === 'repository' ? [...targets.packages.keys()] : []
  const setopt = listed(repos.setopt)
  const dnf = isDnf(await managerName())
  if (dnf && !obsoletes) setopt.push('obsoletes=False')
  const verb = obsoletes || dnf ? 'upgrade' : 'update'
  const result = await runManager(
    [
      '--quiet',
      '-y',
      ...repoArgs({ ...repos, setopt }),
      ...extraOptions(kwargs),
      ...(skip_verify ? ['--nogpgcheck'] : []),
      minimal ? `${verb}-minimal` : verb,
      ...chosen,
    ],
    context,
  )
  forgetInstalled(context)
  const changes = changesBetween(old, await listAttributes(attr, context))
  if (result.retcode === 0) return changes
  throw problem('Problem encountered upgrading packages', { changes, result })
})

function extraOptions(given: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(given)
    .sort()
    .flatMap((key) => {
      if (!/^[a-z][\w-]*$/i.test(key))
        throw new SaltInvocationError(`'${key}' is no name of an option of dnf or yum`)
      const value = given[key]
      if (value === true) return [`--${key}`]
      return typeof value === 'string' ? [`--${key}=${value}`] : []
    })
}

/**
 * Upgrade packages as `pkg.upgrade` does, but keep those that others replace.
 *
 * @example salt '*' pkg.update
 * @example salt '*' pkg.update name=openssl
 */
export const update = fn(upgradeParams(false), (given, context) => upgrade.run(given, context))

/**
 * Fetch the lists of packages. Returns true if upgrades are available, null if none is, and false after an error.
 *
 * @example salt '*' pkg.refresh_db
 */
export const refresh_db = fn(
  { check_update: flag(true), ...repoParams },
  async ({ check_update, ...given }, context) => {
    await expireLists(given, context)
    return check_update ? checkUpdate(given, context) : true
  },
)

async function checkUpdate(given: RepoOptions, context: Parameters<typeof readManager>[1]) {
  const { os_family, osmajorrelease } = context.grains
  const quick = os_family === 'RedHat' && osmajorrelease === 7
  const skip = quick ? ['--setopt=autocheck_running_kernel=false'] : []
  const args = ['--quiet', '--assumeyes', 'check-update', ...skip, ...repoArgs(given)]
  const { retcode } = await readManager(args, context)
  return retcode === 100 ? true : retcode === 0 ? null : false
}

/**
 * Fetch the lists of packages, as `pkg.refresh_db` does.
 *
 * @example salt '*' pkg.clean_metadata
 */
export { refresh_db as clean_metadata }

/**
 * List the installed packages and their versions. With `attr` (`epoch`, `version`, `release`, `arch`, `install_date`,
 * `install_date_time_t`, or `all`) each version is a map.
 *
 * @example salt '*' pkg.list_pkgs
 * @example salt '*' pkg.list_pkgs versions_as_list=True
 * @example salt '*' pkg.list_pkgs attr=version,arch
 */
export const list_pkgs = fn(
  {
    versions_as_list: flag(false),
    attr: texts,
    removed: flag(false),
    purge_desired: flag(false),
    use_context: flag(true),
  },
  async ({ versions_as_list, attr, removed, purge_desired, use_context }, context) => {
    if (removed || purge_desired) return {}
    const options = { useContext: use_context }
    const wanted = listed(attr)
    if (wanted.length > 0) return withAttributes(await readInstalled(context, options), wanted)
    return versions_as_list ? listVersions(context, options) : listJoined(context, options)
  },
)

/**
 * Return the installed version of a package, or ''. For several names or a glob, a map.
 *
 * @example salt '*' pkg.version vim
 * @example salt '*' pkg.version 'python3*'
 */
export const version = fn(
  { names, versions_as_list: flag(false), use_context: flag(true) },
  async ({ names, versions_as_list, use_context }, context) =>
    chosenVersions(names, await listVersions(context, { useContext: use_context }), versions_as_list),
)

/**
 * Return the version that is available of a package, or '' if it is installed already. For several names, a map.
 *
 * @example salt '*' pkg.latest_version vim
 * @example salt '*' pkg.latest_version vim fromrepo=epel
 */
export const latest_version = fn(
  { names, refresh: flag(true), ...repoParams },
  async ({ names, refresh, ...given }, context) =>
    names.length === 0 ? '' : oneOrAll(await latestVersions(names, refresh, given, context), names),
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
  { name: p.string(), refresh: flag(true), ...repoParams },
  async ({ name, refresh, ...given }, context) =>
    (await latestVersions([name], refresh, given, context))[name] !== '',
)

/**
 * List the packages that an upgrade would change, and their new versions.
 *
 * @example salt '*' pkg.list_upgrades
 */
export const list_upgrades = fn(
  { refresh: flag(true), ...repoParams },
  async ({ refresh, ...given }, context) => {
    if (refresh) await expireLists(given, context)
    return listUpgradable(given, context)
  },
)

/**
 * Alias of `pkg.list_upgrades`.
 *
 * @example salt '*' pkg.list_updates
 */
export { list_upgrades as list_updates }

/**
 * List the versions of packages in the repositories, the newest first; with `byrepo` by repository. Names may be globs.
 *
 * @example salt '*' pkg.list_repo_pkgs
 * @example salt '*' pkg.list_repo_pkgs 'samba4*' fromrepo=base,updates
 * @example salt '*' pkg.list_repo_pkgs 'python2-*' byrepo=True
 */
export const list_repo_pkgs = fn(
  { args: names, byrepo: flag(false), cacheonly: flag(false), ...repoParams },
  async ({ args, byrepo, ...given }, context) => {
    const found = await listRepoPackages(args, given, context)
    return byrepo ? found : joinRepos(found)
  },
)

/**
 * List the package files that dnf or yum has downloaded.
 *
 * @example salt '*' pkg.list_downloaded
 */
export const list_downloaded = fn(async (_, context) =>
  listDownloaded(`/var/cache/${await managerName()}`, context),
)

/**
 * Download packages into the cache of dnf or yum, and return the paths.
 *
 * @example salt '*' pkg.download httpd
 * @example salt '*' pkg.download httpd postfix
 */
export const download = fn({ packages: names }, ({ packages }, context) =>
  downloadPackages(packages, context),
)

/**
 * Return what is known about installed packages. `attr` names what to return; with `all_versions` it is a list.
 *
 * @example salt '*' pkg.info_installed bash
 * @example salt '*' pkg.info_installed bash attr=version,vendor all_versions=True
 */
export const info_installed = fn(
  { names, attr: texts, all_versions: flag(false), errors: text },
  ({ names, ...options }, context) => packageInfos(names, options, context),
)

/**
 * Return the package that owns a file, or ''. For several paths, a map.
 *
 * @example salt '*' pkg.owner /usr/bin/apachectl
 * @example salt '*' pkg.owner /usr/bin/apachectl /etc/httpd/conf/httpd.conf
 */
export const owner = fn({ paths: names }, ({ paths }, context) => ownerOf(paths, undefined, context))

/**
 * List the files of packages, or of all.
 *
 * @example salt '*' pkg.file_list httpd postfix
 */
export const file_list = fn({ packages: names }, ({ packages }, context) =>
  fileList(packages, undefined, context),
)

/**
 * List the files of packages, or of all, by package.
 *
 * @example salt '*' pkg.file_dict httpd postfix
 */
export const file_dict = fn({ packages: names }, ({ packages }, context) =>
  fileDict(packages, undefined, context),
)

/**
 * Compare the files of packages, or of all, with what was installed, and return those that differ. `ignore_types` leaves out
 * `config`, `doc`, `ghost`, `license` or `readme`; `verify_options` are options of rpm without `--`, such as `nodeps`.
 *
 * @example salt '*' pkg.verify
 * @example salt '*' pkg.verify httpd ignore_types='["config", "doc"]'
 */
export const verify = fn(
  { names, ignore_types: texts, verify_options: texts },
  ({ names, ...options }, context) => verifyPackages(names, options, context),
)

/**
 * List the files of packages, or of all, that differ from what was installed, with what differs: `size`, `mode`, `checksum`,
 * `device`, `symlink`, `owner`, `group`, `time`, `capabilities`. Flags of these names filter.
 *
 * @example salt '*' pkg.modified httpd
 * @example salt '*' pkg.modified httpd owner=True group=False
 */
export const modified = fn({ packages: names, flags: p.keywords(p.any()) }, ({ packages, flags }, context) =>
  modifiedFiles(packages, flags, undefined, context),
)

/**
 * Compare installed files with those of their packages, which are downloaded, and return the differences.
 *
 * @example salt '*' pkg.diff /etc/httpd/conf/httpd.conf /etc/sudoers
 */
export const diff = fn({ paths: names }, ({ paths }, context) =>
  differences(paths, undefined, (packages) => downloadPackages(packages, context), context),
)

const holding = { name: text, pkgs: list, sources: list, normalize: flag(true) }

/**
 * Hold packages back from upgrades. Needs the plugin versionlock.
 *
 * @example salt '*' pkg.hold vim
 * @example salt '*' pkg.hold pkgs='["foo", "bar"]'
 */
export const hold = fn(holding, ({ name, pkgs, sources }, context) =>
  holdPackages(heldNames(name, pkgs, sources), context),
)

/**
 * Let held packages be upgraded again. Needs the plugin versionlock.
 *
 * @example salt '*' pkg.unhold vim
 * @example salt '*' pkg.unhold pkgs='["foo", "bar"]'
 */
export const unhold = fn(holding, ({ name, pkgs, sources }, context) =>
  unholdPackages(heldNames(name, pkgs, sources), context),
)

/**
 * List the packages that are held: with `full` as the plugin versionlock shows them, else their names. `pattern` is a
 * regular expression for the name.
 *
 * @example salt '*' pkg.list_holds
 * @example salt '*' pkg.list_holds full=False
 */
export const list_holds = fn(
  { pattern: p.default(p.string(), HOLD_PATTERN), full: flag(true) },
  ({ pattern, full }, context) => listHolds(pattern, full, context),
)

/**
 * Alias of `pkg.list_holds`.
 *
 * @example salt '*' pkg.get_locked_packages
 */
export { list_holds as get_locked_packages }

/**
 * List the groups of packages and the environments that are installed and that are available.
 *
 * @example salt '*' pkg.group_list
 */
export const group_list = fn((_, context) => listGroups(context))

/**
 * Return what a group of packages consists of. With `expand`, an environment consists of the packages of its groups.
 *
 * @example salt '*' pkg.group_info 'Perl Support'
 * @example salt '*' pkg.group_info 'Server with GUI' expand=True
 */
export const group_info = fn(
  {
    name: p.string(),
    expand: flag(false),
    ignore_groups: p.optional(p.array(p.string())),
    ...repoParams,
  },
  ({ name, expand, ignore_groups = [], fromrepo, enablerepo, disablerepo }, context) =>
    groupInfo(name, expand, { fromrepo, enablerepo, disablerepo }, context, [...ignore_groups]),
)

/**
 * Return which packages of a group are installed and which are not.
 *
 * @example salt '*' pkg.group_diff 'Perl Support'
 */
export const group_diff = fn(
  { name: p.string(), ...repoParams },
  ({ name, fromrepo, enablerepo, disablerepo }, context) =>
    groupDifference(name, { fromrepo, enablerepo, disablerepo }, context),
)

/**
 * Install groups of packages: the mandatory packages, the default ones without those of `skip`, and those of `include`.
 * Further arguments are those of `pkg.install`.
 *
 * @example salt '*' pkg.group_install 'My Group'
 * @example salt '*' pkg.group_install 'My Group' skip='["foo", "bar"]' include=other
 */
export const group_install = fn(
  {
    name: p.any({ description: 'A name, several separated by commas, or a list.' }),
    skip: texts,
    include: texts,
    refresh: flag(false),
    ...installParams,
  },
  async ({ name, skip, include, ...given }, context) => {
    const groups = listed(name)
    if (groups.length === 0) throw new SaltInvocationError('no groups specified')
    const pkgs = await missingOf(groups, listed(skip), listed(include), context)
    return pkgs.length === 0 ? {} : install.run({ ...given, name: undefined, pkgs }, context)
  },
)

/**
 * Alias of `pkg.group_install`.
 *
 * @example salt '*' pkg.groupinstall 'My Group'
 */
export { group_install as groupinstall }

const repoFiles = {
  basedir: p.optional(p.any({ description: 'Folders: a list, or text with commas.' })),
  strict_config: flag(true),
}

/**
 * List the repositories, by default of the folders that dnf or yum is configured to read.
 *
 * @example salt '*' pkg.list_repos
 * @example salt '*' pkg.list_repos basedir=/path/to/dir,/path/to/another/dir
 */
export const list_repos = fn(repoFiles, (files, context) => listRepos(files, context))

/**
 * Return a repository, or {}.
 *
 * @example salt '*' pkg.get_repo myrepo
 */
export const get_repo = fn({ repo: p.string(), ...repoFiles }, ({ repo, ...files }, context) =>
  findRepo(repo, files, context),
)

/**
 * Remove a repository, and its file if no other is in it.
 *
 * @example salt '*' pkg.del_repo myrepo
 */
export const del_repo = fn({ repo: p.string(), ...repoFiles }, ({ repo, ...files }, context) =>
  deleteRepo(repo, files, context),
)

/**
 * Change the options of a repository, or add it with a `name` and a `baseurl` or `mirrorlist`. An option without a value is
 * removed. Returns the file and what it has now. `copr:OWNER/PROJECT` enables a project of COPR.
 *
 * @example salt '*' pkg.mod_repo myrepo enabled=1 gpgcheck=1
 * @example salt '*' pkg.mod_repo myrepo baseurl= mirrorlist=https://example.com/mirrors
 */
export const mod_repo = fn(
  { repo: p.string(), ...repoFiles, saltenv: anything, options: p.keywords(p.any()) },
  ({ repo, options, basedir, strict_config }, context) =>
    changeRepo(repo, options, { basedir, strict_config }, context),
)

/**
 * List the advisories of the repositories, with their packages and whether these are installed.
 *
 * @example salt '*' pkg.list_patches
 */
export const list_patches = fn({ refresh: flag(false) }, async ({ refresh }, context) => {
  if (refresh) await expireLists({}, context)
  return listPatches(false, context)
})

/**
 * List the advisories that are installed.
 *
 * @example salt '*' pkg.list_installed_patches
 */
export const list_installed_patches = fn((_, context) => listPatches(true, context))

/**
 * List the services that still use files which an upgrade has replaced. Needs dnf and systemd.
 *
 * @example salt '*' pkg.services_need_restart
 */
export const services_need_restart = fn((_, context) => outdatedServices(context))

/**
 * Remove the architecture from the name of a package if it is that of this system.
 *
 * @example salt '*' pkg.normalize_name zsh.x86_64
 */
export const normalize_name = fn({ name: p.string() }, ({ name }, { grains }) =>
  withoutNativeArch(name, grains),
)

/**
 * Return the name and the architecture in the name of a package.
 *
 * @example salt '*' pkg.parse_arch zsh.x86_64
 */
export const parse_arch = fn({ name: p.string() }, ({ name }) => splitArch(name))

/**
 * Compare two versions: -1 if the first is earlier, 0 if they are the same, 1 if it is later.
 *
 * @example salt '*' pkg.version_cmp '0.2-001' '0.2.0.1-002'
 */
export const version_cmp = fn(
  { pkg1: p.string(), pkg2: p.string(), ignore_epoch: flag(false) },
  ({ pkg1, pkg2, ignore_epoch }) =>
    ignore_epoch
      ? compareRpmVersions(withoutEpoch(pkg1), withoutEpoch(pkg2))
      : compareRpmVersions(pkg1, pkg2),
)
