import { CommandNotFoundError, type Context } from 'salt-ts'
import type { ProcessResult } from '../_cmd/params.ts'
import { which } from '../_cmd/which.ts'
import { waitingForLock } from '../_pkg/lock.ts'
import { inScope, type ProgramOptions, runProgram } from '../_pkg/program.ts'
import { nameWithArch } from './installed.ts'

/** Repositories to use, as users give them. */
export interface RepoOptions {
  readonly fromrepo?: string | undefined
  readonly enablerepo?: string | undefined
  readonly disablerepo?: string | undefined
}

/** Return the package manager of this host: dnf, or where it is missing yum. */
export async function managerName(): Promise<'dnf' | 'yum'> {
  for (const name of ['dnf', 'yum'] as const) if ((await which(name)) !== null) return name
  throw new CommandNotFoundError('neither dnf nor yum is installed, or not in PATH')
}

/** Run dnf or yum. While another one runs, it is run again until that has ended. */
export async function runManager(
  args: readonly string[],
  context: Context,
  given: ProgramOptions = {},
): Promise<ProcessResult> {
  const words = await inScope([await managerName(), ...args], context)
  return waitingForLock(() => runProgram(words, context, given), holdsLock, context)
}

// dnf waits by itself unless exit_on_lock is set; yum prints that it waits.
const holdsLock = ({ stdout, stderr }: ProcessResult): boolean =>
  /Existing lock|Failed to obtain .*lock|exit_on_lock/.test(stdout + stderr)

/** Return the options for the repositories. */
export function repoArgs({ fromrepo, enablerepo, disablerepo }: RepoOptions): string[] {
  if (fromrepo) return ['--disablerepo=*', `--enablerepo=${fromrepo}`]
  return [
    ...(disablerepo ? [`--disablerepo=${disablerepo}`] : []),
    ...(enablerepo ? [`--enablerepo=${enablerepo}`] : []),
  ]
}

/** Parse a list of packages: name.arch, version and repository in turns. yum breaks long lines between them. */
export function parseList(text: string, grains: Context['grains']): [name: string, version: string][] {
  const rows = text
    .split('\n')
    .filter((line) => !/^(?:\w+ \w+|Last metadata.*|Obsoleting Packages)$/.test(line.trim()))
  const words = rows.join(' ').split(/\s+/).filter(Boolean)
  const found: [string, string][] = []
  for (let at = 0; at + 2 < words.length; at += 3) {
    const [, name, arch] = /^(.+)\.([^.]+)$/.exec(words[at]!) ?? []
    if (name && arch) found.push([nameWithArch(name, arch, grains), words[at + 1]!.replace(/^0:/, '')])
  }
  return found
}
