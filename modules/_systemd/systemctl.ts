import type { Context } from 'salt-ts'
import { type Outcome, type ProgramOptions, runProgram } from '../_program/run.ts'
import { inScope } from './scope.ts'
import { unitName } from './units.ts'

interface How extends ProgramOptions {
  /** Another root folder, whose unit files are meant. */
  readonly root?: string | undefined
  /** Do not wait until the unit has changed its state. */
  readonly noBlock?: boolean
  /** Start it in a scope of its own. */
  readonly scoped?: boolean
}

/** Run systemctl with words such as `['unmask', '--runtime']`, on a unit if there is a name. */
export async function systemctl(
  words: readonly string[],
  name: string | undefined,
  context: Context,
  { root, noBlock = false, scoped = false, ...options }: How = {},
): Promise<Outcome> {
  const all = [
    'systemctl',
    ...(noBlock ? ['--no-block'] : []),
    ...(root ? [`--root=${root}`] : []),
    ...words,
    ...(name === undefined ? [] : ['--', unitName(name)]),
  ] as const
  return runProgram(scoped ? await inScope(all, context) : all, context, options)
}
