/** What the repositories have. */
import { CommandExecutionError, type Context } from 'salt-ts'
import { fnmatch } from '#internal'
import { append } from '../_pkg/group.ts'
import { listed, plainNames } from '../_pkg/names.ts'
import { compareRpmVersions } from '../_rpm/version.ts'
import { portions, zypper, zypperElements } from './run.ts'

type Root = string | undefined

/** Fetch the lists of the repositories: name → whether it has changed. */
export async function refresh(
  root: Root,
  context: Context,
  force?: boolean,
): Promise<Record<string, boolean>> {
  const { zypper: settings } = context.pillar as { zypper?: { refreshdb_force?: unknown } }
  const isForced = force ?? Boolean(settings?.refreshdb_force ?? true)
  const args = ['refresh', ...(isForced ? ['--force'] : [])]
  const { stdout } = await zypper(args, context, { root, refreshing: true })
  const found: Record<string, boolean> = {}
  for (const line of stdout.split('\n')) {
    const [, kind, name] = /^\s*(Repository|Building).*?'([^']*)'/.exec(line) ?? []
    if (kind === undefined || name === undefined) continue
    if (kind === 'Repository' && line.includes('is up to date')) found[name.trim()] = false
    if (kind === 'Building' && line.includes('done')) found[name.trim()] = true
  }
  return found
}

export type Details = Record<string, string | boolean>

/** Return what zypper shows of packages, by name. */
export async function infosOf(
  names: readonly string[],
  root: Root,
  context: Context,
): Promise<Record<string, Details>> {
  const found: Record<string, Details> = {}
  const sorted = [...new Set(plainNames(names))].sort()
  for (const some of portions(sorted, 200)) {
    const args = ['info', '-t', 'package', ...some]
    const { stdout } = await zypper(args, context, { root, reading: true })
    for (const part of stdout.split('Information for package')) {
      const { name, ...details } = detailsIn(part)
      if (typeof name === 'string') found[name] = details
    }
  }
  return found
}

function detailsIn(text: string): Details {
  const details: Details = {}
  for (const line of text.split('\n').filter((one) => !one.startsWith('-----'))) {
    const [, key = '', value = ''] = /^([^:]+):(.*)$/.exec(line) ?? []
    if (value.trim() === '') continue
    const name = key.trim().toLowerCase()
    details[name] = name === 'installed' ? /^yes/i.test(value.trim()) : value.trim()
  }
  return details
}

/** Return the version of each package that could be installed; '' if the latest one is, or there is none. */
export async function latestOf(
  names: readonly string[],
  root: Root,
  context: Context,
): Promise<Record<string, string>> {
  const infos = await infosOf(names, root, context)
  const versionOf = (name: string) => {
    const { status = '', version = '' } = infos[name] ?? {}
    return /not installed|out-of-date/i.test(String(status)) ? String(version) : ''
  }
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, versionOf(name)]))
}

/** List the packages that an upgrade would change, and their new versions. */
export async function upgradable(
  repos: readonly string[],
  root: Root,
  context: Context,
): Promise<Record<string, string>> {
  const args = ['list-updates', ...repos.flatMap((repo) => ['--repo', repo])]
  const updates = await zypperElements('update', args, context, { root, reading: true })
  return Object.fromEntries(
    updates
      .filter(({ attributes }) => attributes.kind === 'package')
      .map(({ attributes: { name = '', edition = '' } }) => [name, edition]),
  )
}

/** List the versions of packages whose names match, the newest first, by repository. */
export async function repoPackages(
  names: readonly string[],
  fromrepo: string | undefined,
  root: Root,
  context: Context,
): Promise<Record<string, Record<string, string[]>>> {
  const solvables = await zypperElements('solvable', ['se', '-s', ...plainNames(names)], context, { root })
  const found: Record<string, Record<string, string[]>> = {}
  for (const { attributes } of solvables) {
    const { kind, repository, name, edition } = attributes
    if (kind !== 'package' || !repository || !name || !edition) continue
    if (fromrepo && repository !== fromrepo) continue
    if (names.length > 0 && !names.some((pattern) => fnmatch(name, pattern))) continue
    found[repository] ??= {}
    append(found[repository], name, edition)
  }
  return Object.fromEntries(Object.entries(found).map(([repo, packages]) => [repo, newestFirst(packages)]))
}

/** Put the versions of all repositories together. */
export function joined(repos: Readonly<Record<string, Record<string, string[]>>>): Record<string, string[]> {
  const all: Record<string, string[]> = {}
  for (const packages of Object.values(repos))
    for (const [name, versions] of Object.entries(packages))
      for (const version of versions) append(all, name, version)
  return newestFirst(all)
}

const newestFirst = (packages: Readonly<Record<string, readonly string[]>>): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(packages).map(([name, versions]) => [
      name,
      [...new Set(versions)].sort((a, b) => compareRpmVersions(b, a)),
    ]),
  )

const RELATIONS = ['provides', 'recommends', 'requires', 'suggests', 'conflicts', 'obsoletes'] as const

/** What to search for, and where. */
export type SearchOptions = Readonly<
  Partial<
    Record<
      | (typeof RELATIONS)[number]
      | 'file_list'
      | 'search_descriptions'
      | 'case_sensitive'
      | 'installed_only'
      | 'not_installed_only'
      | 'details',
      boolean | undefined
    >
  >
> & { readonly match?: 'exact' | 'words' | 'substrings' | undefined }

/** Search for packages: name → what zypper says of it. @throws CommandExecutionError if there is none */
export async function search(
  criteria: string,
  { match, not_installed_only, ...flags }: SearchOptions,
  root: Root,
  context: Context,
): Promise<Record<string, Readonly<Record<string, string>>>> {
  const chosen = Object.entries(flags).filter(([, isSet]) => isSet)
  const args = [
    'search',
    ...(match ? [`--match-${match}`] : []),
    ...chosen.map(([name]) => `--${name.replaceAll('_', '-')}`),
    ...(not_installed_only ? ['-u'] : []),
    ...plainNames([criteria]),
  ]
  const solvables = await zypperElements('solvable', args, context, { root, reading: true, tolerant: true })
  if (solvables.length === 0) throw new CommandExecutionError(`No packages found matching '${criteria}'`)
  return Object.fromEntries(solvables.map(({ attributes }) => [attributes.name ?? '', attributes]))
}

const OPERATORS = ['', '<', '<=', '=', '>=', '>']

/** Return the latest version that fits, such as `>=1.2*`, with its operator. Undefined if none does. */
export async function matchingVersion(
  name: string,
  wanted: string,
  root: Root,
  context: Context,
): Promise<string | undefined> {
  const pattern = wanted.replaceAll(/[<>=+]/g, '')
  const operator = wanted.replace(pattern, '')
  if (!OPERATORS.includes(operator))
    throw new CommandExecutionError(`Zypper do not supports operator "${operator}".`)
  const args = ['se', '-xv', ...plainNames([name])]
  const solvables = await zypperElements('solvable', args, context, { root, reading: true })
  if (solvables.length === 0) throw new CommandExecutionError(`No packages found matching '${name}'`)
  const versions = solvables.flatMap(({ attributes }) => attributes.edition ?? [])
  const latest = versions
    .filter((one) => fnmatch(one, pattern))
    .sort(compareRpmVersions)
    .at(-1)
  return latest && `${operator}${latest}`
}

/** Replace names that only a capability has by the package that provides it. */
export async function resolveCapabilities(pkgs: unknown, root: Root, context: Context): Promise<unknown[]> {
  const entries = (Array.isArray(pkgs) ? pkgs : listed(pkgs)).map((item): [string, unknown] =>
    typeof item === 'object' && item !== null
      ? (Object.entries(item)[0] ?? ['', null])
      : [String(item), null],
  )
  const resolved: unknown[] = []
  for (const [given, version] of entries) {
    const name = await providerOf(given, root, context)
    resolved.push(version ? { [name]: version } : name)
  }
  return resolved
}

async function providerOf(name: string, root: Root, context: Context): Promise<string> {
  const found = async (options: SearchOptions) =>
    search(name, { ...options, match: 'exact' }, root, context).catch((error) => {
      if (error instanceof CommandExecutionError) return undefined
      throw error
    })
  if (await found({})) return name
  const providers = Object.keys((await found({ provides: true })) ?? {})
  if (providers.length > 1) context.log.warn(`Found ambiguous match for capability '${name}'.`)
  return providers.length === 1 ? (providers[0] as string) : name
}
