import { CommandNotFoundError, type Context, p } from 'salt-ts'
import { which } from '../_cmd/which.ts'
import { waitingForLock } from '../_pkg/lock.ts'
import { listed } from '../_pkg/names.ts'
import { type Outcome, type ProgramOptions, runProgram } from '../_program/run.ts'
import { inScope } from '../_systemd/scope.ts'
import { nameWithArch } from './arch.ts'
import { isRpmLocked } from './query.ts'

const text = () => p.optional(p.string())
const texts = () => p.optional(p.union(p.string(), p.array(p.string())))

/** Parameters of functions that read repositories. */
export const repoParams = {
  fromrepo: text(),
  repo: text(),
  disablerepo: texts(),
  enablerepo: texts(),
  disableexcludes: text(),
  branch: text(),
  setopt: texts(),
} as const
export interface RepoOptions {
  readonly fromrepo?: string | undefined
  readonly repo?: string | undefined
  readonly disablerepo?: string | readonly string[] | undefined
  readonly enablerepo?: string | readonly string[] | undefined
  readonly disableexcludes?: string | undefined
  readonly branch?: string | undefined
  readonly setopt?: string | readonly string[] | undefined
}

const MANAGERS = ['dnf5', 'dnf', 'tdnf', 'yum'] as const
export type Manager = (typeof MANAGERS)[number]

/** Return the package manager of this host: the first of them that is installed. */
export async function managerName(): Promise<Manager> {
  for (const name of MANAGERS) if ((await which(name)) !== null) return name
  throw new CommandNotFoundError('neither dnf nor yum is installed, or not in PATH')
}
export const isDnf = (name: Manager): boolean => name === 'dnf' || name === 'dnf5'

// By itself dnf would wait without an end for another one.
const EXIT_ON_LOCK: Partial<Record<Manager, readonly string[]>> = {
  dnf: ['--setopt=exit_on_lock=True'],
  yum: ['--setopt=exit_on_lock=1'],
}

/** Run dnf or yum. While another one holds its lock, it is run again until that has ended. */
export async function runManager(
  args: readonly string[],
  context: Context,
  given: ProgramOptions = {},
): Promise<Outcome> {
  const name = await managerName()
  const words = await inScope([name, ...(EXIT_ON_LOCK[name] ?? []), ...args], context, 'salt-ts: packages')
  const run = () => runProgram(words, context, given)
  return waitingForLock(run, holdsLock, context)
}

/** Run dnf or yum for what it prints, whatever its return code. */
export const readManager = (args: readonly string[], context: Context): Promise<Outcome> =>
  runManager(args, context, { ignoreRetcode: true })

/** dnf ends with this code if another one holds one of its locks. */
const LOCKED = 200

const holdsLock = ({ retcode, stdout, stderr }: Outcome): boolean =>
  retcode === LOCKED ||
  /Existing lock|Failed to obtain the .*lock|already locked by|holding the yum lock/.test(stdout + stderr) ||
  isRpmLocked(stdout + stderr)

/** Return the options for the repositories. */
export function repoArgs(given: RepoOptions): string[] {
  const { disableexcludes, branch } = given
  return [
    ...chosenRepos(given),
    ...(disableexcludes ? [`--disableexcludes=${disableexcludes}`] : []),
    ...(branch ? [`--branch=${branch}`] : []),
    ...listed(given.setopt).map((option) => `--setopt=${option}`),
  ]
}

function chosenRepos({ fromrepo, repo, disablerepo, enablerepo }: RepoOptions): string[] {
  const only = fromrepo || repo
  if (only) return ['--disablerepo=*', `--enablerepo=${only}`]
  const options = (name: string, given: string | readonly string[] = []) =>
    [given].flat().flatMap((one) => (one === '' ? [] : [`--${name}=${one}`]))
  return [...options('disablerepo', disablerepo), ...options('enablerepo', enablerepo)]
}

/** Fetch the lists of packages anew when they are needed next. */
export async function expireLists(given: RepoOptions, context: Context): Promise<void> {
  await readManager(['--quiet', '--assumeyes', 'clean', 'expire-cache', ...repoArgs(given)], context)
}

/** A package that is listed. */
export interface ListedPackage {
  readonly name: string
  readonly arch: string
  readonly version: string
  readonly repo: string
}

const HEADINGS =
  /^(?:(?:installed|available|updated|upgraded|obsoleting) packages|available upgrades|last metadata .*)$/i

/** Parse a list of packages: name.arch, version and repository in turns. yum breaks long lines between them. */
export function parseList(text: string, grains: Context['grains']): ListedPackage[] {
  const rows = text.split('\n').filter((line) => !HEADINGS.test(line.trim()))
  const words = rows.join(' ').split(/\s+/).filter(Boolean)
  const found: ListedPackage[] = []
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [first = '', version = '', repo = ''] = words.slice(at, at + 3)
    const [, name = first, arch = String(grains.osarch)] = /^(.+)\.([^.]+)$/.exec(first) ?? []
    found.push({
      name: nameWithArch(name, arch, grains),
      arch,
      version: version.replace(/-$/, ''),
      repo: repo.replace(/^@/, ''),
    })
  }
  return found
}
