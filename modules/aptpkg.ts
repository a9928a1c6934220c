/**
 * Manage packages with apt and dpkg, on Debian and systems made from it.
 *
 * apt and dpkg are run unattended. If another program holds their lock, they wait for it for up to five minutes.
 */
import { join } from 'node:path'
import { fn, p, SaltInvocationError, untyped, type Virtual } from 'salt-ts'
import { latestVersions, listAvailable, listUpgradable, showPackages } from './_apt/available.ts'
import { installedInfos, ownerOf, packageFiles } from './_apt/database.ts'
import { listDownloaded } from './_apt/deb-file.ts'
import { holdPackages, unholdPackages } from './_apt/hold.ts'
import { installPackages, uninstallPackages } from './_apt/install.ts'
import { listInstalled, listVersions, withoutNativeArch } from './_apt/installed.ts'
import { addKey, keyOfPpa, listKeys, removeKey } from './_apt/key-list.ts'
import { refreshLists } from './_apt/refresh.ts'
import { changeRepo, deleteRepo, findRepo, listRepos } from './_apt/repos.ts'
import { fetchSelections, readSelections, writeSelections } from './_apt/selections.ts'
import { outdatedServices } from './_apt/services.ts'
import type { Repo } from './_apt/sources.ts'
import { removeUnneeded, unneededPackages, upgradeAll } from './_apt/upgrade.ts'
import { withoutEpoch } from './_pkg/comparison.ts'
import { compareDebVersions } from './_pkg/deb-version.ts'
import { append } from './_pkg/group.ts'
import { heldNames } from './_pkg/hold.ts'
import { parseTargets } from './_pkg/targets.ts'
import { chosenVersions, oneOrAll } from './_pkg/versions.ts'

export const virtualName = 'pkg'
export const virtual: Virtual = ({ grains }) =>
  grains.os_family === 'Debian' || 'The pkg module could not be loaded: unsupported OS family'

const text = p.optional(p.string())
const list = p.optional(p.any({ description: 'A list of names, or of maps name → version.' }))
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const seconds = p.default(p.number({ minimum: 0 }), 0)
const names = p.rest(p.string())
const saltenv = p.default(p.string(), 'base')

/**
 * Install packages, or change them to a version, and return the changes. `name` may be several names separated by commas.
 * `pkgs` is a list of names or of maps name → version; a version may begin with an operator, as in `>=1.2`. `sources` is a
 * list of maps name → path or URL of a package file. Held packages are installed too, and are held again afterwards.
 *
 * @example salt '*' pkg.install vim
 * @example salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-0ubuntu0"}]' refresh=True
 * @example salt '*' pkg.install sources='[{"foo": "salt://foo.deb"}, {"bar": "salt://bar.deb"}]'
 */
export const install = fn(
  {
    name: text,
    refresh: flag(false),
    fromrepo: text,
    skip_verify: flag(false),
    debconf: text,
    pkgs: list,
    sources: list,
    reinstall: flag(false),
    downloadonly: flag(false),
    ignore_epoch: flag(false),
    version: text,
    cache_valid_time: seconds,
    force_yes: flag(false),
    force_conf_new: flag(false),
    install_recommends: p.optional(p.boolean()),
    only_upgrade: flag(false),
    env: p.optional(p.any()),
    saltenv,
    repo: text,
  },
  async ({ debconf, repo, fromrepo = repo, ...options }, context) => {
    if (debconf !== undefined) await context.call(untyped('debconf.set_file'), { path: debconf })
    const normalize = (name: string) => withoutNativeArch(name, context.grains)
    const targets = await parseTargets(options, normalize, context)
    return targets ? installPackages(targets, { ...options, fromrepo }, context) : {}
  },
)

const removal = { name: text, pkgs: list, env: p.optional(p.any()) }

/**
 * Remove packages and return the changes. Their configuration stays.
 *
 * @example salt '*' pkg.remove vim
 * @example salt '*' pkg.remove foo,bar
 * @example salt '*' pkg.remove pkgs='["foo", "bar"]'
 */
export const remove = fn(removal, async ({ env, ...given }, context) => {
  const targets = await parseTargets(given, (name) => withoutNativeArch(name, context.grains), context)
  return targets ? uninstallPackages('remove', targets, env, context) : {}
})

/**
 * Remove packages with their configuration, and return the changes: `installed` and, of configuration, `removed`.
 *
 * @example salt '*' pkg.purge vim
 * @example salt '*' pkg.purge pkgs='["foo", "bar"]'
 */
export const purge = fn(removal, async ({ env, ...given }, context) => {
  const targets = await parseTargets(given, (name) => withoutNativeArch(name, context.grains), context)
  return targets ? uninstallPackages('purge', targets, env, context) : {}
})

/**
 * Remove packages that were installed for others only and are not needed any more, and return the changes. With
 * `list_only` nothing is removed, and their names are returned.
 *
 * @example salt '*' pkg.autoremove
 * @example salt '*' pkg.autoremove list_only=True
 * @example salt '*' pkg.autoremove purge=True
 */
export const autoremove = fn(
  { list_only: flag(false), purge: flag(false) },
  ({ list_only, purge }, context) =>
    list_only ? unneededPackages(purge, context) : removeUnneeded(purge, context),
)

/**
 * Upgrade all packages and return the changes. `dist_upgrade` also installs and removes others where that is necessary.
 *
 * @example salt '*' pkg.upgrade
 * @example salt '*' pkg.upgrade dist_upgrade=True
 */
export const upgrade = fn(
  {
    refresh: flag(true),
    dist_upgrade: flag(false),
    cache_valid_time: seconds,
    force_conf_new: flag(false),
    force_yes: flag(false),
    skip_verify: flag(false),
    download_only: flag(false),
    downloadonly: flag(false),
    allow_downgrades: flag(false),
  },
  async ({ refresh, cache_valid_time, ...given }, context) => {
    if (refresh) await refreshLists(cache_valid_time, false, context)
    return upgradeAll(given, context)
  },
)

/**
 * Fetch the lists of packages. Returns for each source true if it was fetched, null if it had not changed, and false if it
 * could not be fetched; with `failhard` that is an error. With `cache_valid_time` nothing is done if the lists are younger
 * than that many seconds.
 *
 * @example salt '*' pkg.refresh_db
 * @example salt '*' pkg.refresh_db cache_valid_time=3600 failhard=True
 */
export const refresh_db = fn(
  { cache_valid_time: seconds, failhard: flag(false) },
  ({ cache_valid_time, failhard }, context) => refreshLists(cache_valid_time, failhard, context),
)

/**
 * List the installed packages and their versions. `removed` lists those whose configuration is left, `purge_desired` those
 * that are to be purged.
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
  ({ versions_as_list, use_context, ...which }, context) =>
    (versions_as_list ? listVersions : listInstalled)(which, context, use_context),
)

/**
 * List the packages that an upgrade would change, and their new versions.
 *
 * @example salt '*' pkg.list_upgrades
 * @example salt '*' pkg.list_upgrades refresh=False dist_upgrade=False
 */
export const list_upgrades = fn(
  { refresh: flag(true), dist_upgrade: flag(true), cache_valid_time: seconds, fromrepo: text },
  async ({ refresh, dist_upgrade, cache_valid_time, fromrepo }, context) => {
    if (refresh) await refreshLists(cache_valid_time, false, context)
    return listUpgradable(dist_upgrade, fromrepo, context)
  },
)

/**
 * Return the version that is available of a package, or '' if it is installed already. For several names, a map.
 *
 * @example salt '*' pkg.latest_version vim
 * @example salt '*' pkg.latest_version vim fromrepo=unstable
 * @example salt '*' pkg.latest_version vim nano refresh=False
 */
export const latest_version = fn(
  {
    names,
    refresh: flag(true),
    show_installed: flag(false),
    fromrepo: text,
    cache_valid_time: seconds,
    repo: text,
  },
  async ({ names, refresh, cache_valid_time, repo, ...how }, context) => {
    if (repo !== undefined)
      throw new SaltInvocationError("The 'repo' argument is invalid, use 'fromrepo' instead")
    if (names.length === 0) return ''
    if (refresh) await refreshLists(cache_valid_time, false, context)
    return oneOrAll(await latestVersions(names, how, context), names)
  },
)

/**
 * Alias of `pkg.latest_version`.
 *
 * @example salt '*' pkg.available_version vim
 */
export { latest_version as available_version }

/**
 * True if a later version of a package is available.
 *
 * @example salt '*' pkg.upgrade_available vim
 */
export const upgrade_available = fn(
  { name: p.string(), refresh: flag(true) },
  async ({ name, refresh }, context) => {
    if (refresh) await refreshLists(0, false, context)
    return (await latestVersions([name], {}, context))[name] !== ''
  },
)

/**
 * Return the installed version of a package, or ''. For several names or a glob, a map.
 *
 * @example salt '*' pkg.version vim
 * @example salt '*' pkg.version vim 'python3*'
 */
export const version = fn(
  { names, versions_as_list: flag(false), use_context: flag(true) },
  async ({ names, versions_as_list, use_context }, context) =>
    chosenVersions(names, await listVersions({}, context, use_context), versions_as_list),
)

/**
 * Compare two versions: -1 if the first is earlier, 0 if they are the same, 1 if it is later.
 *
 * @example salt '*' pkg.version_cmp '0.2.4-0ubuntu1' '0.2.4.1-0ubuntu1'
 */
export const version_cmp = fn(
  { pkg1: p.string(), pkg2: p.string(), ignore_epoch: flag(false) },
  ({ pkg1, pkg2, ignore_epoch }) =>
    ignore_epoch
      ? compareDebVersions(withoutEpoch(pkg1), withoutEpoch(pkg2))
      : compareDebVersions(pkg1, pkg2),
)

/**
 * Return what is known about installed packages. With `failhard=False` a package that is not installed is left out.
 *
 * @example salt '*' pkg.info_installed bash
 * @example salt '*' pkg.info_installed bash no-such-package failhard=False
 */
export const info_installed = fn({ names, failhard: flag(true) }, ({ names, failhard }, context) =>
  installedInfos(names, failhard, context),
)

/**
 * Return what `apt-cache show` has on packages, by name and version. `filter` limits it to some fields.
 *
 * @example salt '*' pkg.show gawk
 * @example salt '*' pkg.show 'nginx-*' filter=description,provides
 */
export const show = fn(
  { names, filter: p.optional(p.union(p.string(), p.array(p.string()))), refresh: flag(false) },
  async ({ names, filter = [], refresh }, context) => {
    if (refresh) await refreshLists(0, false, context)
    if (names.length === 0) return {}
    return showPackages(names, [filter].flat(), context)
  },
)

/**
 * Return the package that owns a file, or ''. For several paths, a map.
 *
 * @example salt '*' pkg.owner /usr/bin/apachectl
 * @example salt '*' pkg.owner /usr/bin/apachectl /usr/bin/basename
 */
export const owner = fn({ paths: p.rest(p.string()) }, async ({ paths }, context) => {
  if (paths.length === 0) return ''
  const owners: Record<string, string> = {}
  for (const path of paths) owners[path] = await ownerOf(path, context)
  return oneOrAll(owners, paths)
})

/**
 * List the files of packages, or of all.
 *
 * @example salt '*' pkg.file_list hostname mount
 */
export const file_list = fn({ packages: p.rest(p.string()) }, async ({ packages }, context) => {
  const files = await packageFiles(packages, context)
  if (typeof files === 'string') return files
  return { errors: [], files: [...new Set(Object.values(files).flat())].sort() }
})

/**
 * List the files of packages, or of all, by package.
 *
 * @example salt '*' pkg.file_dict hostname mount
 */
export const file_dict = fn({ packages: p.rest(p.string()) }, async ({ packages }, context) => {
  const files = await packageFiles(packages, context)
  return typeof files === 'string' ? files : { errors: [], packages: files }
})

const holding = { name: text, pkgs: list, sources: list }

/**
 * Hold packages back from upgrades.
 *
 * @example salt '*' pkg.hold vim
 * @example salt '*' pkg.hold pkgs='["foo", "bar"]'
 */
export const hold = fn(holding, ({ name, pkgs, sources }, context) =>
  holdPackages(heldNames(name, pkgs, sources), context),
)

/**
 * Let held packages be upgraded again.
 *
 * @example salt '*' pkg.unhold vim
 * @example salt '*' pkg.unhold pkgs='["foo", "bar"]'
 */
export const unhold = fn(holding, ({ name, pkgs, sources }, context) =>
  unholdPackages(heldNames(name, pkgs, sources), context),
)

/**
 * List the packages that dpkg has a selection for, by state.
 *
 * @example salt '*' pkg.get_selections
 * @example salt '*' pkg.get_selections 'openssh*' state=hold
 */
export const get_selections = fn({ pattern: text, state: text }, async ({ pattern, state }, context) => {
  const selections = await readSelections(pattern, context)
  return state ? { [state]: selections[state] ?? [] } : selections
})

/**
 * Set the selections of dpkg (install, hold, deinstall, purge), given as a map state → names, or as a file with lines of a
 * name and a state. Returns what changed. `clear` first sets all packages to deinstall.
 *
 * @example salt '*' pkg.set_selections selection='{"hold": ["openssh-server", "openssh-client"]}'
 * @example salt '*' pkg.set_selections salt://path/to/file
 */
export const set_selections = fn(
  { path: text, selection: p.optional(p.record(p.array(p.string()))), clear: flag(false), saltenv },
  async ({ path, selection, clear, saltenv }, context) => {
    if (path && selection) {
      throw new SaltInvocationError(
        "The 'selection' and 'path' arguments to pkg.set_selections are mutually exclusive, and cannot be specified together",
      )
    }
    if (!path) return selection ? writeSelections(selection, clear, context) : {}
    return writeSelections(await fetchSelections(path, saltenv, context), clear, context)
  },
)

/**
 * List the repositories that apt reads, by URI.
 *
 * @example salt '*' pkg.list_repos
 */
export const list_repos = fn(
  { kwargs: p.keywords(p.any({ description: 'Ignored: what other providers of this name take.' })) },
  async (_, context) => {
    const repos: Record<string, Repo[]> = {}
    for (const repo of await listRepos(context)) append(repos, repo.uri, repo)
    return repos
  },
)

/**
 * Return a repository, given as its whole line, or {}.
 *
 * @example salt '*' pkg.get_repo 'deb http://deb.debian.org/debian bookworm main'
 */
export const get_repo = fn({ repo: p.string() }, ({ repo }, context) => findRepo(repo, context))

/**
 * Add a repository, given as its whole line, or change it, and return it. A key given as `key_url` or `key_text` is stored
 * in the file that `signed-by` of the line names.
 *
 * @example salt '*' pkg.mod_repo 'deb http://deb.debian.org/debian bookworm main' comps=main,contrib
 * @example salt '*' pkg.mod_repo 'deb [signed-by=/etc/apt/keyrings/shop.gpg] https://deb.example.com stable main' file=shop.list key_url=salt://shop.gpg
 */
export const mod_repo = fn(
  {
    repo: p.string(),
    saltenv,
    refresh: flag(true),
    refresh_db: p.optional(p.boolean()),
    architectures: text,
    comps: text,
    file: text,
    comments: p.optional(p.union(p.string(), p.array(p.string()))),
    disabled: p.optional(p.boolean()),
    enabled: p.optional(p.boolean()),
    key_url: text,
    key_text: text,
  },
  async ({ repo, refresh, refresh_db = refresh, ...changes }, context) => {
    const changed = await changeRepo(repo, changes, context)
    if (refresh_db) await refreshLists(0, false, context)
    return changed
  },
)

/**
 * Remove a repository, given as its whole line. A file that defines nothing else is removed.
 *
 * @example salt '*' pkg.del_repo 'deb https://deb.example.com stable main'
 */
export const del_repo = fn({ repo: p.string(), refresh: flag(true) }, async ({ repo, refresh }, context) => {
  const report = await deleteRepo(repo, context)
  if (refresh) await refreshLists(0, false, context)
  return report
})

const keyPlace = { aptkey: flag(true), keydir: text }

/**
 * List the keys of repositories by id: those of apt-key, or with `aptkey=False`, or without apt-key, of the files in `keydir`
 * (/etc/apt/keyrings).
 *
 * @example salt '*' pkg.get_repo_keys
 * @example salt '*' pkg.get_repo_keys aptkey=False keydir=/etc/apt/trusted.gpg.d
 */
export const get_repo_keys = fn(keyPlace, (place, context) => listKeys(place, context))

/**
 * Add a key of a repository: of a file (`path`), a `text`, or `keyid` of a `keyserver`. Without apt-key it is stored as `keyfile` in
 * `keydir` (/etc/apt/keyrings); the name of a file whose content is text ends with .asc. False if it cannot be added.
 *
 * @example salt '*' pkg.add_repo_key salt://apt/sources/test.key aptkey=False keyfile=test.gpg
 * @example salt '*' pkg.add_repo_key keyserver=keyserver.example keyid=0000AAAA
 */
export const add_repo_key = fn(
  {
    path: text,
    text,
    keyserver: text,
    keyid: text,
    saltenv,
    ...keyPlace,
    keyfile: text,
  },
  (given, context) => addKey(given, context),
  { returns: p.boolean() },
)

/**
 * Remove a key of a repository by its `keyid`, or with `keyid_ppa` by that of a PPA (`name`), and return the id. Without apt-key the
 * file in `keydir` that has it is removed, and the id has 8 or 16 digits.
 *
 * @example salt '*' pkg.del_repo_key keyid=0123ABCD
 * @example salt '*' pkg.del_repo_key name=ppa:foo/bar keyid_ppa=True
 */
export const del_repo_key = fn(
  { name: text, ...keyPlace, keyid: text, keyid_ppa: flag(false) },
  async ({ name, keyid, keyid_ppa, ...place }, context) => {
    const id = keyid_ppa ? await keyOfPpa(name, context) : keyid
    if (id === undefined) throw new SaltInvocationError('keyid or keyid_ppa and PPA name must be passed')
    return removeKey(id, place, context)
  },
)

/**
 * List the versions of packages in the lists of apt, the newest first; of all without a name.
 *
 * @example salt '*' pkg.list_repo_pkgs
 * @example salt '*' pkg.list_repo_pkgs foo bar
 */
export const list_repo_pkgs = fn({ args: names }, ({ args }, context) => listAvailable(args, context))

/**
 * List the package files that apt has downloaded.
 *
 * @example salt '*' pkg.list_downloaded
 */
export const list_downloaded = fn({ root: p.default(p.string(), '/') }, ({ root }, context) =>
  listDownloaded(join(root, '/var/cache/apt'), context),
)

/**
 * List the services that still use files which an upgrade has replaced. Needs checkrestart of debian-goodies.
 *
 * @example salt '*' pkg.services_need_restart
 */
export const services_need_restart = fn((_, context) => outdatedServices(context))

/**
 * Remove the architecture from the name of a package if it is that of this system.
 *
 * @example salt '*' pkg.normalize_name zsh:amd64
 */
export const normalize_name = fn({ name: p.string() }, ({ name }, { grains }) =>
  withoutNativeArch(name, grains),
)

/**
 * Return the name and the architecture in the name of a package.
 *
 * @example salt '*' pkg.parse_arch zsh:amd64
 */
export const parse_arch = fn({ name: p.string() }, ({ name }) => {
  const at = name.lastIndexOf(':')
  return at < 0 ? { name, arch: null } : { name: name.slice(0, at), arch: name.slice(at + 1) }
})
