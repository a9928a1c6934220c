import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { linesOf } from '../_cmd/lines.ts'
import type { Outcome } from '../_program/run.ts'
import { type Caller, expandPath, git, noOption, tryGit } from './run.ts'

export interface Place extends Caller {
  readonly global: boolean
}

/** Read values of the configuration by a key, or by a pattern of keys. */
export async function readValues(
  words: readonly string[],
  { global, ...how }: Place,
  context: Context,
): Promise<Outcome> {
  const cwd = await placeOf({ global, ...how })
  return tryGit(['config', global ? '--global' : '--local', ...words], { ...how, cwd }, context)
}

/** Return all values of a key; undefined if it is not set. */
export async function valuesOf(key: string, place: Place, context: Context): Promise<string[] | undefined> {
  const { retcode, stdout } = await readValues(['--get-all', noOption(key)], place, context)
  return retcode === 1 ? undefined : linesOf(stdout)
}

/** Replace the values of a key by these, or add one. */
export async function setValues(
  key: string,
  values: readonly string[],
  isAdded: boolean,
  { global, ...how }: Place,
  context: Context,
): Promise<string[] | undefined> {
  const cwd = await placeOf({ global, ...how })
  for (const [at, value] of values.entries()) {
    const action = isAdded || at > 0 ? '--add' : '--replace-all'
    await git(
      ['config', ...(global ? ['--global'] : []), action, noOption(key), value],
      { ...how, cwd },
      context,
    )
  }
  return valuesOf(key, { ...how, global, cwd }, context)
}

export async function unsetValues(
  key: string,
  value_regex: string | undefined,
  isAll: boolean,
  place: Place,
  context: Context,
): Promise<true> {
  const { global, ...how } = place
  const cwd = await placeOf(place)
  const words = [
    ...['config', isAll ? '--unset-all' : '--unset', global ? '--global' : '--local', noOption(key)],
    ...(value_regex === undefined ? [] : [value_regex]),
  ]
  const { retcode, stderr } = await tryGit(words, { ...how, cwd }, context)
  if (retcode === 0) return true
  const isThere = retcode === 5 && (await valuesOf(key, { ...place, cwd }, context)) !== undefined
  throw new CommandExecutionError(unsetProblem(key, { retcode, stderr }, value_regex, isThere))
}

function unsetProblem(
  key: string,
  { retcode, stderr }: Pick<Outcome, 'retcode' | 'stderr'>,
  value_regex: string | undefined,
  isThere: boolean,
): string {
  if (retcode === 1) return 'Section or key is invalid'
  if (retcode === 6) return 'The value_regex is invalid'
  if (retcode === 5 && !isThere) return `Key '${key}' does not exist`
  if (retcode === 5)
    return `Multiple values exist for key '${key}'${value_regex === undefined ? '' : ' and value_regex matches multiple values'}`
  return `Failed to unset key '${key}', git config returned exit code ${retcode}${stderr ? `; ${stderr}` : ''}`
}

async function placeOf({ cwd, global, user }: Place): Promise<string | undefined> {
  if (cwd !== undefined) return expandPath(cwd, user)
  if (!global) throw new SaltInvocationError("'cwd' argument required unless global=True")
  return undefined
}
