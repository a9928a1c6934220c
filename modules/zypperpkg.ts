/**
 * Manage packages with zypper and rpm, on SUSE's systems.
 *
 * If another zypper holds its lock, it is waited for, for up to five minutes. `root` is another root folder than `/`. Names such as
 * `pattern:base`, `patch:…` and `product:…` stand for other things than packages.
 */
import { fn, p, SaltInvocationError, type Virtual } from 'salt-ts'
import { which } from './_cmd/which.ts'
import { withoutEpoch } from './_pkg/comparison.ts'
import { append } from './_pkg/group.ts'
import { listed, plainNames } from './_pkg/names.ts'
import { parseTargets } from './_pkg/targets.ts'
import { chosenVersions, oneOrAll } from './_pkg/versions.ts'
import { splitArch, withoutNativeArch } from './_rpm/arch.ts'
import { differences } from './_rpm/difference.ts'
import { packageInfos } from './_rpm/info.ts'
import { withAttributes } from './_rpm/installed.ts'
import {
  fileDict,
  fileList,
  modified as modifiedFiles,
  ownerOf,
  rpm,
  verify as verifyPackages,
} from './_rpm/query.ts'
import { compareRpmVersions } from './_rpm/version.ts'
import {
  infosOf,
  joined,
  latestOf,
  matchingVersion,
  refresh,
  repoPackages,
  resolveCapabilities,
  search as searchPackages,
  upgradable,
} from './_zypper/available.ts'
import {
  downloaded,
  install as installTargets,
  remove as removeTargets,
  upgrade as upgradePackages,
} from './_zypper/change.ts'
import { downloadPackages } from './_zypper/download.ts'
import {
  installedOnly,
  installedPatterns,
  installedWith,
  joinedVersions,
  products,
  summaries,
  versionLists,
} from './_zypper/installed.ts'
import {
  cleanLocks,
  hold as holdTargets,
  listHolds,
  listLocks,
  unhold as unholdTargets,
} from './_zypper/locks.ts'
import { changeRepo, deleteRepo, listRepos, repoOf } from './_zypper/repos.ts'
import { zypper } from './_zypper/run.ts'

export const virtualName = 'pkg'
export const virtual: Virtual = async ({ grains }) => {
  if (grains.os_family !== 'Suse') return 'Module zypper: non SUSE OS not supported by zypper package manager'
  return (await which('zypper')) !== null || 'Module zypper: zypper package manager not found'
}

const text = p.optional(p.string())
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const texts = p.optional(p.union(p.string(), p.array(p.string())))
const list = p.optional(p.any({ description: 'A list of names, or of maps name → version.' }))
const names = p.rest(p.string())
const root = p.optional(p.string({ pattern: '^/' }))
const refreshed = (fallback: boolean) => ({ refresh: flag(fallback), root })

/**
 * Fetch the lists of the repositories: name → whether it has changed. `force` fetches them anew, by default as
 * `zypper:refreshdb_force` in the pillar says, or else true.
 *
 * @example salt '*' pkg.refresh_db
 * @example salt '*' pkg.refresh_db force=False
 */
export const refresh_db = fn(
  { force: p.optional(p.boolean()), root },
  ({ force, root }, context) => refresh(root, context, force),
  { returns: p.record(p.boolean()) },
)

/**
 * List the packages that an upgrade would change, and their new versions.
 *
 * @example salt '*' pkg.list_upgrades
 * @example salt '*' pkg.list_upgrades fromrepo=repo-oss
 */
export const list_upgrades = fn(
  { ...refreshed(true), fromrepo: texts },
  async ({ refresh: isFresh, root, fromrepo = [] }, context) => {
    if (isFresh) await refresh(root, context)
    return upgradable([fromrepo].flat(), root, context)
  },
  { returns: p.record(p.string()) },
)

/**
 * Alias of `pkg.list_upgrades`.
 *
 * @example salt '*' pkg.list_updates
 */
export { list_upgrades as list_updates }

/**
 * Return what is known about installed packages. `attr` names what to return; with `all_versions` it is a list.
 *
 * @example salt '*' pkg.info_installed bash
 * @example salt '*' pkg.info_installed bash attr=version,vendor all_versions=True
 */
export const info_installed = fn(
  { names, attr: texts, all_versions: flag(false), errors: text, root },
  ({ names, errors: _, ...options }, context) => packageInfos(names, options, context),
)

/**
 * Return what the repositories have on packages, by name: `version`, `status`, `repository`, `installed`, …
 *
 * @example salt '*' pkg.info_available vim
 */
export const info_available = fn(
  { names, ...refreshed(true) },
  async ({ names, refresh: isFresh, root }, context) => {
    if (names.length === 0) return {}
    if (isFresh) await refresh(root, context)
    return infosOf(names, root, context)
  },
)

/**
 * Return the version of a package that could be installed, or '' if it is. For several names, a map.
 *
 * @example salt '*' pkg.latest_version vim
 * @example salt '*' pkg.latest_version vim nano
 */
export const latest_version = fn(
  { names, ...refreshed(true) },
  async ({ names, refresh: isFresh, root }, context) => {
    if (names.length === 0) return {}
    if (isFresh) await refresh(root, context)
    return oneOrAll(await latestOf(names, root, context), [...new Set(names)])
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
  { name: p.string(), ...refreshed(true) },
  async ({ name, refresh: isFresh, root }, context) => {
    if (isFresh) await refresh(root, context)
    return (await latestOf([name], root, context))[name] !== ''
  },
  { returns: p.boolean() },
)

/**
 * Return the installed version of a package; {} if it is not installed. For several names or a glob, a map.
 *
 * @example salt '*' pkg.version vim
 * @example salt '*' pkg.version 'python3*'
 */
export const version = fn(
  { names, versions_as_list: flag(false), use_context: flag(true) },
  async ({ names, versions_as_list, use_context }, context) => {
    const installed = versionLists(await installedWith([], undefined, context, use_context))
    return chosenVersions(names, installed, versions_as_list) || {}
  },
)

/**
 * Compare two versions: -1 if the first is earlier, 0 if they are the same, 1 if it is later.
 *
 * @example salt '*' pkg.version_cmp '0.2-001' '0.2.0.1-002'
 */
export const version_cmp = fn(
  { ver1: p.string(), ver2: p.string(), ignore_epoch: flag(false) },
  ({ ver1, ver2, ignore_epoch }) => {
    const clean = (one: string) => (ignore_epoch ? withoutEpoch(one) : one)
    return compareRpmVersions(clean(ver1), clean(ver2))
  },
  { returns: p.integer() },
)

/**
 * List the installed packages and their versions, and with `includes` things of these types: `product`, `pattern`, `patch`.
 * With `attr` (`epoch`, `version`, `release`, `arch`, `install_date`, `install_date_time_t`, or `all`) each version is a map.
 *
 * @example salt '*' pkg.list_pkgs
 * @example salt '*' pkg.list_pkgs attr=version,arch
 * @example salt '*' pkg.list_pkgs includes='["pattern"]'
 */
export const list_pkgs = fn(
  {
    versions_as_list: flag(false),
    root,
    includes: texts,
    attr: texts,
    removed: flag(false),
    purge_desired: flag(false),
    use_context: flag(true),
  },
  async ({ versions_as_list, root, includes, attr, removed, purge_desired, use_context }, context) => {
    if (removed || purge_desired) return {}
    const found = await installedWith(listed(includes), root, context, use_context)
    const wanted = listed(attr)
    if (wanted.length > 0) return withAttributes(found, wanted)
    return versions_as_list ? versionLists(found) : joinedVersions(found)
  },
)

/**
 * List the versions of packages in the repositories, the newest first; with `byrepo` by repository. Names may be globs.
 *
 * @example salt '*' pkg.list_repo_pkgs
 * @example salt '*' pkg.list_repo_pkgs 'python2-*' byrepo=True
 * @example salt '*' pkg.list_repo_pkgs 'python2-*' fromrepo='OSS Updates'
 */
export const list_repo_pkgs = fn(
  { args: names, byrepo: flag(false), fromrepo: text, root },
  async ({ args, byrepo, fromrepo, root }, context) => {
    const found = await repoPackages(args, fromrepo, root, context)
    return byrepo ? found : joined(found)
  },
)

/**
 * Return a repository, or {}.
 *
 * @example salt '*' pkg.get_repo repo-oss
 */
export const get_repo = fn({ repo: p.string(), root }, ({ repo, root }, context) =>
  repoOf(repo, root, context),
)

/**
 * List the repositories by alias.
 *
 * @example salt '*' pkg.list_repos
 */
export const list_repos = fn({ root }, ({ root }, context) => listRepos(root, context))

/**
 * Remove a repository.
 *
 * @example salt '*' pkg.del_repo myrepo
 */
export const del_repo = fn({ repo: p.string(), root }, ({ repo, root }, context) =>
  deleteRepo(repo, root, context),
)

/**
 * Change the options of a repository, or add it with a `url`, `baseurl` or `mirrorlist`: `name`, `enabled`, `refresh`, `cache`,
 * `gpgcheck`, `priority`. `gpgautoimport` trusts its keys. Returns what it has then.
 *
 * @example salt '*' pkg.mod_repo myrepo baseurl=https://example.com/repo refresh=True
 * @example salt '*' pkg.mod_repo myrepo enabled=False
 */
export const mod_repo = fn(
  { repo: p.string(), root, options: p.keywords(p.any()) },
  ({ repo, root, options }, context) => changeRepo(repo, options, root, context),
)

/**
 * Install packages, or change them to a version, and return the changes. `pkgs` is a list of names or of maps name → version; a
 * version may begin with an operator, and that of a single `name` may be a glob. `sources` is a list of maps name → path or URL of a
 * package file. With `downloadonly` they are downloaded only, and with `diff_attr` the changes show these attributes.
 *
 * @example salt '*' pkg.install vim
 * @example salt '*' pkg.install pkgs='["foo", {"bar": "<1.2.3-4"}]' fromrepo=repo-oss
 * @example salt '*' pkg.install sources='[{"foo": "salt://foo.rpm"}]'
 * @example salt '*' pkg.install advisory_ids='["SUSE-2024-1234"]'
 */
export const install = fn(
  {
    name: text,
    refresh: flag(false),
    fromrepo: text,
    pkgs: list,
    sources: list,
    downloadonly: flag(false),
    skip_verify: flag(false),
    version: text,
    ignore_repo_failure: flag(false),
    no_recommends: flag(false),
    root,
    resolve_capabilities: flag(false),
    diff_attr: texts,
    advisory_ids: texts,
    saltenv: p.default(p.string(), 'base'),
  },
  async ({ name, pkgs, sources, version, diff_attr, advisory_ids, saltenv, ...given }, context) => {
    const { root } = given
    if (given.refresh) await refresh(root, context)
    const options = { ...given, attr: listed(diff_attr) }
    if (advisory_ids !== undefined) {
      const ids = [...plainNames(listed(advisory_ids))]
      return installTargets({ from: 'advisories', ids }, options, context)
    }
    const single = name && version && !pkgs && !sources && !name.includes(',') ? name : undefined
    const found = single && version ? await matchingVersion(single, version, root, context) : undefined
    const wanted = { name, pkgs, sources, version: found ?? version, saltenv }
    const targets = await parseTargets(wanted, (one) => one, context)
    return targets ? installTargets(targets, options, context) : {}
  },
)

/**
 * Upgrade all packages, or those of `name` or `pkgs`, and return the changes. With `dist_upgrade` that of the distribution, with
 * `dryrun` nothing is changed, and what zypper would do is returned.
 *
 * @example salt '*' pkg.upgrade
 * @example salt '*' pkg.upgrade pkgs='["package1", "package2"]'
 * @example salt '*' pkg.upgrade dist_upgrade=True fromrepo='["MyRepoName"]' novendorchange=True
 * @example salt '*' pkg.upgrade dist_upgrade=True dryrun=True
 */
export const upgrade = fn(
  {
    name: text,
    pkgs: list,
    refresh: flag(true),
    dryrun: flag(false),
    dist_upgrade: flag(false),
    fromrepo: texts,
    novendorchange: flag(false),
    skip_verify: flag(false),
    no_recommends: flag(false),
    root,
    diff_attr: texts,
  },
  async ({ name, pkgs, refresh: isFresh, fromrepo = [], diff_attr, ...given }, context) => {
    if (isFresh) await refresh(given.root, context)
    const targets = name || pkgs ? await parseTargets({ name, pkgs }, (one) => one, context) : undefined
    const chosen = targets?.from === 'repository' ? [...targets.packages.keys()] : []
    const options = { ...given, fromrepo: [fromrepo].flat(), attr: listed(diff_attr) }
    return upgradePackages(chosen, options, context)
  },
)

const removal = { name: text, pkgs: list, root }

/**
 * Remove packages and return the changes. A version removes the package only if it is that one.
 *
 * @example salt '*' pkg.remove vim
 * @example salt '*' pkg.remove foo,bar
 * @example salt '*' pkg.remove pkgs='["foo", "bar"]'
 */
export const remove = fn(removal, async ({ root, ...given }, context) =>
  removeTargets(await parseTargets(given, (one) => one, context), root, context),
)

/**
 * Remove packages, as `pkg.remove` does.
 *
 * @example salt '*' pkg.purge vim
 */
export const purge = fn(removal, (given, context) => remove.run(given, context))

/**
 * Remove the architecture from the name of a package if it is that of this system.
 *
 * @example salt '*' pkg.normalize_name zsh.x86_64
 */
export const normalize_name = fn(
  { name: p.string() },
  ({ name }, { grains }) => withoutNativeArch(name, grains),
  { returns: p.string() },
)

/**
 * Return the name and the architecture in the name of a package.
 *
 * @example salt '*' pkg.parse_arch zsh.x86_64
 */
export const parse_arch = fn({ name: p.string() }, ({ name }) => splitArch(name))

/**
 * List the installed packages that are held: with `full` as `name-epoch:version.*`, else their names. `pattern` is a regular
 * expression for the name.
 *
 * @example salt '*' pkg.list_holds
 * @example salt '*' pkg.list_holds full=False
 */
export const list_holds = fn(
  { pattern: text, full: flag(true), root },
  ({ pattern, full, root }, context) => listHolds(pattern, full, root, context),
  { returns: p.array(p.string()) },
)

/**
 * List the locks by the name of the package: `type`, `match_type`, `case_sensitive`, `version`.
 *
 * @example salt '*' pkg.list_locks
 */
export const list_locks = fn({ root }, ({ root }) => listLocks(root), {
  returns: p.record(p.record(p.string())),
})

/**
 * Remove the locks that lock no package, and return how many as `removed`.
 *
 * @example salt '*' pkg.clean_locks
 */
export const clean_locks = fn({ root }, ({ root }, context) => cleanLocks(root, context))

/**
 * Let held packages be changed again.
 *
 * @example salt '*' pkg.unhold vim
 * @example salt '*' pkg.unhold pkgs='["foo", "bar"]'
 */
export const unhold = fn(removal, ({ name, pkgs, root }, context) => unholdTargets(name, pkgs, root, context))

/**
 * Hold packages back from changes.
 *
 * @example salt '*' pkg.hold vim
 * @example salt '*' pkg.hold pkgs='["foo", {"bar": "1.2.3-4"}]'
 */
export const hold = fn(removal, ({ name, pkgs, root }, context) => holdTargets(name, pkgs, root, context))

/**
 * Compare the files of packages, or of all, with what was installed, and return those that differ. `ignore_types` leaves out
 * `config`, `doc`, `ghost`, `license` or `readme`; `verify_options` are options of rpm without `--`, such as `nodeps`.
 *
 * @example salt '*' pkg.verify
 * @example salt '*' pkg.verify apache2 ignore_types='["config", "doc"]'
 */
export const verify = fn(
  { names, ignore_types: texts, verify_options: texts, root },
  ({ names, ...options }, context) => verifyPackages(names, options, context),
)

/**
 * List the files of packages, or of all.
 *
 * @example salt '*' pkg.file_list apache2 postfix
 */
export const file_list = fn({ packages: names, root }, ({ packages, root }, context) =>
  fileList(packages, root, context),
)

/**
 * List the files of packages, or of all, by package.
 *
 * @example salt '*' pkg.file_dict apache2 postfix
 */
export const file_dict = fn({ packages: names, root }, ({ packages, root }, context) =>
  fileDict(packages, root, context),
)

/**
 * List the files of packages, or of all, that differ from what was installed, with what differs: `size`, `mode`, `checksum`,
 * `device`, `symlink`, `owner`, `group`, `time`, `capabilities`. Flags of these names filter.
 *
 * @example salt '*' pkg.modified apache2
 * @example salt '*' pkg.modified apache2 owner=True group=False
 */
export const modified = fn(
  { packages: names, root, flags: p.keywords(p.any()) },
  ({ packages, root, flags }, context) => modifiedFiles(packages, flags, root, context),
)

/**
 * Return the package that owns a file, or ''. For several paths, a map.
 *
 * @example salt '*' pkg.owner /usr/bin/apachectl
 * @example salt '*' pkg.owner /usr/bin/apachectl /etc/apache2/httpd.conf
 */
export const owner = fn({ paths: names, root }, ({ paths, root }, context) => ownerOf(paths, root, context))

/**
 * List the patterns of the repositories, each with `installed` and `summary`.
 *
 * @example salt '*' pkg.list_patterns
 */
export const list_patterns = fn(refreshed(false), async ({ refresh: isFresh, root }, context) => {
  if (isFresh) await refresh(root, context)
  return summaries('pattern', root, context)
})

/**
 * List the installed patterns, each with `installed` and `summary`.
 *
 * @example salt '*' pkg.list_installed_patterns
 */
export const list_installed_patterns = fn({ root }, ({ root }, context) => installedPatterns(root, context))

/**
 * Search for packages: name → what zypper says of it. `match` is `exact`, `words` or `substrings`; the other options are those of
 * `zypper search`.
 *
 * @example salt '*' pkg.search vim
 * @example salt '*' pkg.search vim match=exact details=True
 */
export const search = fn(
  {
    criteria: p.string(),
    refresh: flag(false),
    match: p.optional(p.enum('exact', 'words', 'substrings')),
    provides: flag(false),
    recommends: flag(false),
    requires: flag(false),
    suggests: flag(false),
    conflicts: flag(false),
    obsoletes: flag(false),
    file_list: flag(false),
    search_descriptions: flag(false),
    case_sensitive: flag(false),
    installed_only: flag(false),
    not_installed_only: flag(false),
    details: flag(false),
    root,
  },
  async ({ criteria, refresh: isFresh, root, ...options }, context) => {
    if (isFresh) await refresh(root, context)
    return searchPackages(criteria, options, root, context)
  },
)

/**
 * List the products of SUSE: those that are installed, or with `all` those of the repositories, too.
 *
 * @example salt '*' pkg.list_products
 * @example salt '*' pkg.list_products all=True
 */
export const list_products = fn(
  { all: flag(false), ...refreshed(false) },
  async ({ all, refresh: isFresh, root }, context) => {
    if (isFresh) await refresh(root, context)
    return products(all, root, context)
  },
)

/**
 * Download packages into the cache of zypper: name → `path`, `repository-name` and `repository-alias`. Names those that could not
 * be downloaded as `_error`.
 *
 * @example salt '*' pkg.download apache2
 * @example salt '*' pkg.download apache2 postfix
 */
export const download = fn(
  { packages: names, ...refreshed(false) },
  async ({ packages, refresh: isFresh, root }, context) => {
    if (packages.length === 0) throw new SaltInvocationError('No packages specified')
    if (isFresh) await refresh(root, context)
    return downloadPackages(packages, root, context)
  },
)

/**
 * List the package files that zypper has downloaded.
 *
 * @example salt '*' pkg.list_downloaded
 */
export const list_downloaded = fn({ root }, ({ root }, context) => downloaded(root, context))

/**
 * Compare installed files with those of their packages, which are downloaded, and return the differences.
 *
 * @example salt '*' pkg.diff /etc/apache2/httpd.conf /etc/sudoers
 */
export const diff = fn({ paths: names, root }, ({ paths, root }, context) =>
  differences(
    paths,
    root,
    async (packages) => {
      const found = Object.entries(await downloadPackages(packages, root, context))
      return Object.fromEntries(
        found.flatMap(([name, file]) => (typeof file === 'string' ? [] : [[name, file.path]])),
      )
    },
    context,
  ),
)

/**
 * List the advisories of the repositories, each with `installed` and `summary`.
 *
 * @example salt '*' pkg.list_patches
 */
export const list_patches = fn(refreshed(false), async ({ refresh: isFresh, root }, context) => {
  if (isFresh) await refresh(root, context)
  return summaries('patch', root, context)
})

/**
 * List the advisories that are installed, each with `installed` and `summary`.
 *
 * @example salt '*' pkg.list_installed_patches
 */
export const list_installed_patches = fn({ root }, async ({ root }, context) =>
  installedOnly(await summaries('patch', root, context)),
)

/**
 * List what the installed packages provide, but for their own names: capability → packages.
 *
 * @example salt '*' pkg.list_provides
 */
export const list_provides = fn(
  { root },
  async ({ root }, context) => {
    const { stdout } = await rpm(['-qa', '--queryformat', '%{PROVIDES}_|-%{NAME}\\n'], root, context)
    const found: Record<string, string[]> = {}
    for (const line of stdout.split('\n')) {
      const [provided = '', name] = line.split('_|-')
      if (name !== undefined && provided !== name) append(found, provided, name)
    }
    return found
  },
  { returns: p.record(p.array(p.string())) },
)

/**
 * Replace names that only a capability has by the package that provides it, with `resolve_capabilities`; else the list is returned
 * as it is.
 *
 * @example salt '*' pkg.resolve_capabilities '["w3m_ssl"]' resolve_capabilities=True
 */
export const resolve_capabilities = fn(
  { pkgs: p.any(), ...refreshed(false), resolve_capabilities: flag(false) },
  async ({ pkgs, refresh: isFresh, root, resolve_capabilities }, context) => {
    if (isFresh) await refresh(root, context)
    return resolve_capabilities ? resolveCapabilities(pkgs, root, context) : pkgs
  },
)

/**
 * List the services that still use files which an upgrade has replaced.
 *
 * @example salt '*' pkg.services_need_restart
 */
export const services_need_restart = fn(
  { root },
  async ({ root }, context) => {
    const { stdout } = await zypper(['ps', '-sss'], context, { root, reading: true })
    return stdout.split(/\s+/).filter(Boolean)
  },
  { returns: p.array(p.string()) },
)
