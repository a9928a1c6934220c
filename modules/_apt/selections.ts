import { readFile } from 'node:fs/promises'
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { append } from '../_pkg/group.ts'
import { packageName } from '../_pkg/names.ts'
import { changeWithApt, readApt } from './command.ts'

/** Packages by state: install, hold, deinstall or purge. */
export type Selections = Record<string, string[]>
export type SelectionChanges = Record<string, { old: string | null; new: string }>

const STATES = ['install', 'hold', 'deinstall', 'purge']

/** List the selections of dpkg for a pattern. */
export async function readSelections(pattern: string | undefined, context: Context): Promise<Selections> {
  const { stdout } = await readApt(['dpkg', '--get-selections', packageName(pattern || '*')], context)
  return parseSelections(stdout)
}

/** Read selections from a file, which may be on the file server. */
export async function fetchSelections(path: string, saltenv: string, context: Context): Promise<Selections> {
  const cached = await context.call('cp.cache_file', { path, saltenv })
  if (typeof cached === 'string' && cached !== '') return parseSelections(await readFile(cached, 'utf8'))
  throw new CommandExecutionError(
    `The file ${path} could not be fetched; check that it exists in saltenv '${saltenv}'`,
  )
}

/** Parse lines of a name and a state. */
function parseSelections(text: string): Selections {
  const selections: Selections = {}
  for (const line of text.split('\n')) {
    const [name, state] = line.trim().split(/\s+/)
    if (name && state) append(selections, state, name)
  }
  return selections
}

/** Set selections of dpkg, and return those that were different. */
export async function writeSelections(
  wanted: Readonly<Record<string, readonly string[]>>,
  clear: boolean,
  context: Context,
): Promise<SelectionChanges> {
  const bad = Object.keys(wanted).filter((state) => !STATES.includes(state))
  for (const name of Object.values(wanted).flat()) packageName(name)
  if (bad.length > 0) throw new SaltInvocationError(`Invalid state(s): ${bad.join(', ')}`)
  if (context.opts.test === true) return {}
  if (clear) await clearSelections(context)
  const states = new Map(
    Object.entries(await readSelections(undefined, context)).flatMap(([state, names]) =>
      names.map((name) => [name, state] as const),
    ),
  )
  const changes: SelectionChanges = {}
  for (const [state, names] of Object.entries(wanted)) {
    for (const name of [names].flat()) {
      if (states.get(name) === state) continue
      const stdin = `${name} ${state}`
      const { retcode } = await changeWithApt(['dpkg', '--set-selections'], context, { input: stdin })
      if (retcode === 0) changes[name] = { old: states.get(name) ?? null, new: state }
      else context.log.error(`failed to set state ${state} for package ${name}`)
    }
  }
  return changes
}

async function clearSelections(context: Context): Promise<void> {
  const { retcode, stderr } = await changeWithApt(['dpkg', '--clear-selections'], context)
  if (retcode !== 0) throw new CommandExecutionError(`Running dpkg --clear-selections failed: ${stderr}`)
}
