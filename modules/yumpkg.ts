/**
 * Manage packages with dnf or yum and rpm, on Red Hat's systems and those made from them.
 *
 * If another program holds their lock, it is waited for, for up to five minutes.
 */
import { fn, p, type Virtual } from 'salt-ts'
import { changesBetween, problem } from './_pkg/changes.ts'
import { withoutEpoch } from './_pkg/comparison.ts'
import { runProgram } from './_pkg/program.ts'
import { compareRpmVersions } from './_pkg/rpm-version.ts'
import { parseTargets } from './_pkg/targets.ts'
import { chosenVersions, oneOrAll } from './_pkg/versions.ts'
import { listJoined, listVersions } from './_rpm/installed.ts'
import { managerName, parseList, repoArgs, runManager } from './_rpm/manager.ts'

export const virtualName = 'pkg'
export const virtual: Virtual = ({ grains }) =>
  ['RedHat', 'Amazon Linux', 'fedora'].includes(String(grains.os_family)) ||
  'Module yumpkg: no yum based system detected'

const text = p.optional(p.string())
const list = p.optional(p.any({ description: 'A list of names, or of maps name → version.' }))
const flag = (fallback: boolean) => p.default(p.boolean(), fallback)
const names = p.rest(p.string())
const repos = { fromrepo: text, enablerepo: text, disablerepo: text }
const same = (name: string) => name

/**
 * Install packages, or change them to a version, and return the changes. `sources` is a list of maps name → path or URL of
 * a package file.
 *
 * @example salt '*' pkg.install vim
 * @example salt '*' pkg.install pkgs='["foo", {"bar": "1.2.3-4.el9"}]'
 */
export const install = fn(
  {
    name: text,
    refresh: flag(false),
    skip_verify: flag(false),
    pkgs: list,
    sources: list,
    downloadonly: flag(false),
    reinstall: flag(false),
    version: text,
    saltenv: p.default(p.string(), 'base'),
    ...repos,
  },
  async ({ refresh, skip_verify, downloadonly, reinstall, ...given }, context) => {
    const targets = await parseTargets(given, same, context)
    if (!targets) return {}
    if (refresh) await runManager(['-y', 'clean', 'expire-cache'], context)
    const old = await listJoined(context)
    const wanted =
      targets.from === 'files'
        ? targets.paths.map((path) => ['', path] as const)
        : [...targets.packages].map(
            ([name, version]) =>
              [name, version === null ? name : `${name}-${version.replace(/^=+/, '')}`, version] as const,
          )
    const actions: Record<'install' | 'downgrade' | 'reinstall', string[]> = {
      install: [],
      downgrade: [],
      reinstall: [],
    }
    for (const [name, argument, version = null] of wanted)
      actions[actionFor(version, old[name], reinstall)].push(argument)
    const options = [
      '-y',
      ...repoArgs(given),
      ...(skip_verify ? ['--nogpgcheck'] : []),
      ...(downloadonly ? ['--downloadonly'] : []),
    ]
    const errors: string[] = []
    for (const [action, args] of Object.entries(actions)) {
      if (args.length === 0) continue
      const { retcode, stdout, stderr } = await runManager([...options, action, ...args], context)
      if (retcode !== 0) errors.push(stderr || stdout)
    }
    const changes = changesBetween(old, await listJoined(context))
    if (errors.length === 0) return changes
    throw problem('Error occurred installing package(s)', { errors, changes })
  },
)

function actionFor(version: string | null, current: string | undefined, reinstall: boolean) {
  if (current === undefined) return 'install'
  const order = version === null ? 0 : compareRpmVersions(version.replace(/^=+/, ''), current)
  if (order === 0 && reinstall) return 'reinstall'
  return order < 0 ? 'downgrade' : 'install'
}

/**
 * Remove packages and return the changes.
 *
 * @example salt '*' pkg.remove vim
 * @example salt '*' pkg.remove pkgs='["foo", "bar"]'
 */
export const remove = fn({ name: text, pkgs: list }, async (given, context) => {
  const targets = await parseTargets(given, same, context)
  const old = await listJoined(context)
  const known =
    targets?.from === 'repository' ? [...targets.packages.keys()].filter((name) => name in old) : []
  if (known.length === 0) return {}
  const { retcode, stdout, stderr } = await runManager(['-y', 'remove', ...known], context)
  const changes = changesBetween(old, await listJoined(context))
  if (retcode === 0) return changes
  throw problem('Error occurred removing package(s)', { errors: [stderr || stdout], changes })
})

/**
 * Alias of `pkg.remove`.
 *
 * @example salt '*' pkg.purge vim
 */
export { remove as purge }

/**
 * Upgrade all packages, or those of `name` or `pkgs`, and return the changes.
 *
 * @example salt '*' pkg.upgrade
 * @example salt '*' pkg.upgrade name=openssl
 */
export const upgrade = fn(
  { name: text, pkgs: list, refresh: flag(true), skip_verify: flag(false), ...repos },
  async ({ name, pkgs, refresh, skip_verify, ...given }, context) => {
    if (refresh) await runManager(['-y', 'clean', 'expire-cache'], context)
    const targets = name || pkgs ? await parseTargets({ name, pkgs }, same, context) : undefined
    const old = await listJoined(context)
    const chosen = targets?.from === 'repository' ? [...targets.packages.keys()] : []
    const options = ['--quiet', '-y', ...repoArgs(given), ...(skip_verify ? ['--nogpgcheck'] : [])]
    const result = await runManager([...options, 'upgrade', ...chosen], context)
    const changes = changesBetween(old, await listJoined(context))
    if (result.retcode === 0) return changes
    throw problem('Problem encountered upgrading packages', { changes, result })
  },
)

/**
 * Fetch the lists of packages. Returns true if upgrades are available, null if none is, and false after an error.
 *
 * @example salt '*' pkg.refresh_db
 */
export const refresh_db = fn(repos, async (given, context) => {
  await runManager(['--quiet', '-y', 'clean', 'expire-cache', ...repoArgs(given)], context)
  const args = ['--quiet', '-y', 'check-update', ...repoArgs(given)]
  const { retcode } = await runManager(args, context, { ignore_retcode: true })
  return retcode === 100 ? true : retcode === 0 ? null : false
})

/**
 * List the installed packages and their versions.
 *
 * @example salt '*' pkg.list_pkgs
 * @example salt '*' pkg.list_pkgs versions_as_list=True
 */
export const list_pkgs = fn({ versions_as_list: flag(false) }, async ({ versions_as_list }, context) =>
  versions_as_list ? listVersions(context) : listJoined(context),
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
 */
export const latest_version = fn(
  { names, refresh: flag(true), ...repos },
  async ({ names, refresh, ...given }, context) => {
    if (names.length === 0) return ''
    if (refresh) await runManager(['-y', 'clean', 'expire-cache'], context)
    const args = ['--quiet', ...repoArgs(given), 'list', 'available', ...names]
    const { stdout } = await runManager(args, context, { ignore_retcode: true })
    const available = parseList(stdout, context.grains)
    const installed = await listVersions(context)
    const latest = names.map((name) => {
      const [newest = ''] = available
        .filter(([known]) => known === name)
        .map(([, found]) => found)
        .sort((a, b) => compareRpmVersions(b, a))
      const known = (installed[name] ?? []).some((found) => compareRpmVersions(found, newest) >= 0)
      return [name, known ? '' : newest]
    })
    return oneOrAll(Object.fromEntries(latest) as Record<string, string>, names)
  },
)

/**
 * List the packages that an upgrade would change, and their new versions.
 *
 * @example salt '*' pkg.list_upgrades
 */
export const list_upgrades = fn({ refresh: flag(true), ...repos }, async ({ refresh, ...given }, context) => {
  if (refresh) await runManager(['-y', 'clean', 'expire-cache'], context)
  const kind = (await managerName()) === 'dnf' ? 'upgrades' : 'updates'
  const { stdout } = await runManager(['--quiet', ...repoArgs(given), 'list', kind], context, {
    ignore_retcode: true,
  })
  return Object.fromEntries(parseList(stdout, context.grains))
})

/**
 * Return the package that owns a file, or ''. For several paths, a map.
 *
 * @example salt '*' pkg.owner /usr/bin/apachectl
 */
export const owner = fn({ paths: p.rest(p.string()) }, async ({ paths }, context) => {
  if (paths.length === 0) return ''
  const owners: Record<string, string> = {}
  for (const path of paths) {
    const { retcode, stdout } = await runProgram(['rpm', '-qf', '--queryformat', '%{NAME}', path], context)
    owners[path] = retcode === 0 ? stdout : ''
  }
  return oneOrAll(owners, paths)
})

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
