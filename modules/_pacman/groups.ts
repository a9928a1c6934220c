import type { Context } from 'salt-ts'
import { append } from '../_pkg/group.ts'
import { plainNames } from '../_pkg/names.ts'
import { listVersions } from './packages.ts'
import { pacman, rowsOf } from './run.ts'

async function groups(words: readonly string[], context: Context): Promise<Record<string, string[]>> {
  const { stdout } = await pacman(words, context)
  const found: Record<string, string[]> = {}
  for (const [group, name] of rowsOf(stdout)) if (group && name) append(found, group, name)
  return found
}

/** List the groups of packages, by how much of them is installed. */
export async function listGroups(context: Context) {
  const available = await groups(['-Sgg'], context)
  const installed = await groups(['-Qg'], context)
  const known = Object.keys(installed).filter((name) => Object.hasOwn(available, name))
  for (const name of Object.keys(installed).filter((one) => !known.includes(one)))
    context.log.error(`The group ${name} is installed, but no repository has it`)
  const isWhole = (name: string) => installed[name]!.length === available[name]!.length
  return {
    installed: known.filter(isWhole).sort(),
    partially_installed: known.filter((name) => !isWhole(name)).sort(),
    available: Object.keys(available)
      .filter((name) => !known.includes(name))
      .sort(),
  }
}

/** Return the packages of a group, all as default ones, in the form that other package managers have. */
export async function groupInfo(name: string, context: Context) {
  const found = await groups(['-Sgg', ...plainNames([name])], context)
  return {
    mandatory: [] as string[],
    optional: [] as string[],
    default: [...new Set(found[name] ?? [])].sort(),
    conditional: [] as string[],
  }
}

/** Sort the packages of a group by whether they are installed. */
export async function groupDifference(name: string, context: Context) {
  const installed = await listVersions(context)
  const group = await groupInfo(name, context)
  const sorted = Object.entries(group).map(([type, names]) => [
    type,
    {
      installed: names.filter((one) => Object.hasOwn(installed, one)),
      'not installed': names.filter((one) => !Object.hasOwn(installed, one)),
    },
  ])
  return Object.fromEntries(sorted) as Record<
    keyof typeof group,
    { installed: string[]; 'not installed': string[] }
  >
}
