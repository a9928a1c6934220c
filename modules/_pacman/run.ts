import type { Context } from 'salt-ts'
import { waitingForLock } from '../_pkg/lock.ts'
import { type Outcome, type ProgramOptions, runProgram } from '../_program/run.ts'
import { inScope } from '../_systemd/scope.ts'

/** Return the options that make pacman work on another root folder. */
export const inRoot = (root: string | undefined): string[] => (root ? ['--root', root] : [])

/** Run pacman for what it prints. While another one holds the lock of its databases, it is run again. */
export function pacman(
  words: readonly string[],
  context: Context,
  options: ProgramOptions = {},
): Promise<Outcome> {
  const run = () => runProgram(['pacman', ...words], context, { ...options, quiet: true })
  return waitingForLock(run, holdsLock, context)
}

/** Run pacman in a scope of systemd of its own, for changes of installed packages. */
export async function changeWithPacman(words: readonly string[], context: Context): Promise<Outcome> {
  const all = await inScope(
    ['pacman', ...words, '--noprogressbar', '--noconfirm'],
    context,
    'salt-ts: packages',
  )
  const run = () => runProgram(all, context)
  return waitingForLock(run, holdsLock, context)
}

const holdsLock = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): boolean =>
  /unable to lock database/.test(stdout + stderr)

/** Split what pacman printed into rows of words. */
export const rowsOf = (text: string): string[][] =>
  text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([first]) => first !== '')
