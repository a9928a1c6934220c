/** Installs, upgrades and removes packages. */
import { join } from 'node:path'
import { CommandExecutionError, type Context } from 'salt-ts'
import { type Changes, changesBetween, problem } from '../_pkg/changes.ts'
import type { Targets } from '../_pkg/targets.ts'
import { listDownloaded } from '../_rpm/files.ts'
import { forgetInstalled } from '../_rpm/installed.ts'
import { installedWith, listed, summaries, typesIn, versionLists } from './installed.ts'
import { hasSucceeded, portions, zypper } from './run.ts'

/** As many words of a command line are no problem. */
const PORTION = 500

export interface InstallOptions {
  readonly refresh: boolean
  readonly fromrepo?: string | undefined
  readonly downloadonly: boolean
  readonly skip_verify: boolean
  readonly ignore_repo_failure: boolean
  readonly no_recommends: boolean
  readonly resolve_capabilities: boolean
  readonly root?: string | undefined
  readonly attr: readonly string[]
}

/** Install packages, files or advisories, and return the changes. */
export async function install(
  targets: Targets | { readonly from: 'advisories'; readonly ids: readonly string[] },
  options: InstallOptions,
  context: Context,
): Promise<Changes> {
  const { root, attr, downloadonly } = options
  const words = await wordsFor(targets, root, context)
  const types = typesIn(targets.from === 'repository' ? [...targets.packages.keys()] : [])
  const state = () =>
    downloadonly ? downloaded(root, context) : listed({ types, attr, ...(root && { root }) }, context)
  const old = await state()
  await run(words, options, context)
  forgetInstalled(context)
  return changesBetween(old, await state())
}

export const downloaded = (root: string | undefined, context: Context) =>
  listDownloaded(join(root ?? '/', 'var/cache/zypp/packages'), context)

async function wordsFor(
  targets: Parameters<typeof install>[0],
  root: string | undefined,
  context: Context,
): Promise<string[]> {
  if (targets.from === 'files') return [...targets.paths]
  if (targets.from === 'advisories') {
    const known = await summaries('patch', root, context)
    for (const id of targets.ids)
      if (!Object.hasOwn(known, id)) throw new CommandExecutionError(`Advisory id "${id}" not found`)
    return targets.ids.map((id) => `patch:${id}`)
  }
  return [...targets.packages].map(([name, version]) => {
    if (version === null) return name
    const [, operator, number] = /^([<>=!]*)\s*(.*)$/s.exec(version) ?? []
    return `${name}${operator || '='}${number}`
  })
}

const LOWER = /^The selected package '([^']+)'.+has lower version/gm

async function run(words: readonly string[], options: InstallOptions, context: Context): Promise<void> {
  const { root, ignore_repo_failure: tolerant } = options
  const command = commandFor(options)
  const downgrades: string[] = []
  for (const some of portions(words, PORTION)) {
    const { stdout } = await zypper([...command, ...some], context, { root, tolerant, scoped: true })
    downgrades.push(...[...stdout.matchAll(LOWER)].map(([, name = '']) => name))
  }
  for (const some of portions(downgrades, PORTION))
    await zypper([...command, '--force', ...some], context, { root, tolerant, scoped: true })
}

function commandFor(options: InstallOptions): string[] {
  const { fromrepo } = options
  return [
    ...(options.skip_verify ? ['--no-gpg-checks'] : []),
    ...(options.refresh ? [] : ['--no-refresh']),
    ...['install', '--auto-agree-with-licenses', options.resolve_capabilities ? '--capability' : '--name'],
    ...(options.downloadonly ? ['--download-only'] : []),
    ...(fromrepo ? ['--force', '--force-resolution', '--from', fromrepo] : []),
    ...(options.no_recommends ? ['--no-recommends'] : []),
  ]
}

export interface UpgradeOptions {
  readonly dryrun: boolean
  readonly dist_upgrade: boolean
  readonly fromrepo: readonly string[]
  readonly novendorchange: boolean
  readonly skip_verify: boolean
  readonly no_recommends: boolean
  readonly root?: string | undefined
  readonly attr: readonly string[]
}

/** Upgrade all packages, or these, and return the changes; with `dryrun` what zypper would do. */
export async function upgrade(
  names: readonly string[],
  options: UpgradeOptions,
  context: Context,
): Promise<Changes | string> {
  const { root, attr, dryrun, dist_upgrade } = options
  const command = [...upgradeCommand(options, context), ...(dist_upgrade ? [] : names)]
  const how = { root, scoped: true, tolerant: true }
  if (dryrun && dist_upgrade) await zypper([...command, '--debug-solver'], context, how)
  const state = () => listed({ attr, ...(root && { root }) }, context)
  const old = await state()
  const result = await zypper(command, context, how)
  forgetInstalled(context)
  const changes = changesBetween(old, await state())
  if (!hasSucceeded(result)) throw problem('Problem encountered upgrading packages', { changes, result })
  return dryrun ? `${result.stdout}\n${result.stderr}`.trim() : changes
}

function upgradeCommand(options: UpgradeOptions, { grains, log }: Context): string[] {
  const { dist_upgrade, dryrun, fromrepo, novendorchange, no_recommends } = options
  const [major] = (grains.osrelease_info ?? []) as readonly unknown[]
  const keepsVendor = dist_upgrade && novendorchange && Number(major) > 11
  if (dist_upgrade && novendorchange && !keepsVendor)
    log.warn('Disabling vendor changes is not supported on this Zypper version')
  return [
    ...(options.skip_verify ? ['--no-gpg-checks'] : []),
    ...[dist_upgrade ? 'dist-upgrade' : 'update', '--auto-agree-with-licenses'],
    ...(dryrun ? ['--dry-run'] : []),
    ...fromrepo.flatMap((repo) => [dist_upgrade ? '--from' : '--repo', repo]),
    ...(keepsVendor ? ['--no-allow-vendor-change'] : []),
    ...(dist_upgrade && no_recommends ? ['--no-recommends'] : []),
  ]
}

/** Remove those of the packages that are installed, in the versions that are named, and return the changes. */
export async function remove(
  targets: Targets | undefined,
  root: string | undefined,
  context: Context,
): Promise<Changes> {
  const packages = targets?.from === 'repository' ? [...targets.packages] : []
  const types = typesIn(packages.map(([name]) => name))
  const installed = versionLists(await installedWith(types, root, context))
  const words = packages.flatMap(([name, version]) => {
    const versions = Object.hasOwn(installed, name) ? installed[name]! : []
    if (version === null) return versions.length > 0 ? [name] : []
    return versions.includes(version) ? [`${name}-${version}`] : []
  })
  if (words.length === 0) return {}
  const state = () => listed({ types, ...(root && { root }) }, context)
  const old = await state()
  for (const some of portions(words, PORTION))
    await zypper(['remove', ...some], context, { root, scoped: true })
  forgetInstalled(context)
  return changesBetween(old, await state())
}
