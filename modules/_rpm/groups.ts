import { CommandExecutionError, type Context } from 'salt-ts'
import { plainNames } from '../_pkg/names.ts'
import { listVersions } from './installed.ts'
import { isDnf, managerName, type RepoOptions, readManager, repoArgs } from './manager.ts'

const TYPES = ['mandatory', 'optional', 'default', 'conditional'] as const
type Packages = Record<(typeof TYPES)[number], string[]>

/** A group of packages, or an environment: a group of groups. */
export interface Group extends Packages {
  readonly type?: string
  readonly group: string | null
  readonly id: string | null
  readonly description: string
}

const SECTIONS = {
  'installed groups:': 'installed',
  'available groups:': 'available',
  'installed environment groups:': 'installed environments',
  'available environment groups:': 'available environments',
  'available language groups:': 'available languages',
} as const

/** List the groups and environments that are installed and that are available. */
export async function listGroups(context: Context) {
  const { stdout } = await readManager(['grouplist', 'hidden'], context)
  const found = {
    installed: [] as string[],
    available: [] as string[],
    'installed environments': [] as string[],
    'available environments': [] as string[],
    'available languages': {} as Record<string, { name: string; language: string }>,
  }
  let section: keyof typeof found | undefined
  for (const line of stdout.split('\n')) {
    const text = line.trim()
    if (text.toLowerCase() === 'done') break
    const next = SECTIONS[line.toLowerCase() as keyof typeof SECTIONS]
    if (next) section = next
    else if (section === 'available languages') {
      const [, name, language] = /^(.+) \[(.+)\]$/.exec(text) ?? []
      if (name && language) found[section][text] = { name, language }
    } else if (section && text) found[section].push(text)
  }
  return found
}

/** Return what a group consists of. With `expand`, an environment consists of the packages of its groups. */
export async function groupInfo(
  name: string,
  expand: boolean,
  repos: RepoOptions,
  context: Context,
  done: string[] = [],
): Promise<Group> {
  plainNames([name])
  const { stdout } = await readManager(['--quiet', ...repoArgs(repos), 'groupinfo', name], context)
  const { members, ...group } = parseGroup(stdout, name)
  const packages = emptyPackages<Set<string>>(() => new Set())
  const isEnvironment = group.type === 'environment group'
  for (const type of TYPES)
    for (const member of members[type]) {
      if (!expand || !isEnvironment) packages[type].add(member)
      else if (!done.includes(member)) {
        done.push(member)
        // To yum, the @ says that a name is that of a group; dnf does not know it here.
        const name = isDnf(await managerName()) ? member : `@${member}`
        const inner = await groupInfo(name, true, {}, context, done)
        for (const other of TYPES) for (const one of inner[other]) packages[other].add(one)
      }
    }
  return { ...emptyPackages((type) => [...packages[type]].sort()), ...group }
}

const emptyPackages = <T>(make: (type: (typeof TYPES)[number]) => T) =>
  Object.fromEntries(TYPES.map((type) => [type, make(type)])) as Record<(typeof TYPES)[number], T>

function parseGroup(text: string, wanted: string) {
  const fields: Record<string, string> = {}
  const members = emptyPackages<string[]>(() => [])
  let type: (typeof TYPES)[number] | undefined
  for (const line of text.split('\n').map((one) => one.trim())) {
    const [, key, value] = /^([^:]+):([^:]*)$/.exec(line) ?? []
    const section = /^(mandatory|optional|default|conditional) (?:groups|packages):$/i.exec(line)?.[1]
    if (section) type = section.toLowerCase() as typeof type
    else if (key !== undefined) fields[key.trim().toLowerCase()] = (value ?? '').trim()
    else if (type && line) members[type].push(line.replace(/^[!-/:-@[-`{-~]+/, ''))
  }
  const environment = fields['environment group']
  const group = environment || fields.group || null
  const id = fields['environment-id'] || fields['group-id'] || null
  if (group === null && id === null) throw new CommandExecutionError(`Group '${wanted}' not found`)
  const kind = environment !== undefined ? 'environment group' : 'package group'
  return { type: kind, group, id, description: fields.description ?? '', members }
}

/** Sort the packages of a group by whether they are installed. */
export async function groupDifference(name: string, repos: RepoOptions, context: Context) {
  const installed = await listVersions(context)
  const group = await groupInfo(name, true, repos, context)
  return emptyPackages((type) => ({
    installed: group[type].filter((one) => Object.hasOwn(installed, one)),
    'not installed': group[type].filter((one) => !Object.hasOwn(installed, one)),
  }))
}

/** List the packages of groups that are to be installed and are not yet: mandatory ones, default ones, and `include`. */
export async function missingOf(
  groups: readonly string[],
  skip: readonly string[],
  include: readonly string[],
  context: Context,
): Promise<string[]> {
  const targets = [...include]
  for (const name of groups) {
    const group = await groupInfo(name, false, {}, context)
    targets.push(...group.mandatory, ...group.default.filter((one) => !skip.includes(one)))
  }
  const installed = await listVersions(context)
  return [...new Set(targets)].filter((one) => !Object.hasOwn(installed, one))
}
