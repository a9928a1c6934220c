import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Context, SaltInvocationError } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { inTurn } from '../_lock/in-turn.ts'
import { type Outcome, runProgram } from '../_program/run.ts'
import { exists, expandHome } from './paths.ts'
import {
  hasDescriptors,
  heldFile,
  heldForProgram,
  type Place,
  refuseForeignName,
  withPlace,
} from './place.ts'
import { chunksOfLines, withFile } from './reading.ts'
import { replaceInFile } from './replace.ts'
import { copyInto, keepCopy } from './text.ts'

interface Edit {
  readonly before: string
  readonly after: string
  readonly limit: string
  readonly backup: string
  readonly flags: string
  readonly escape_all: boolean
}

/** Escape a text for sed, whose separator is `/`. */
function escaped(given: string, escapeAll: boolean): string {
  const separated = given.replaceAll('/', '\\/')
  return escapeAll ? separated.replace(/[\^.[$()|*+?{]/g, '\\$&') : separated
}

interface SedOptions extends Edit {
  readonly options: string
  readonly negate_match: boolean
}

/** Edit a file with sed(1); false if there is no such file. */
export async function sedFile(
  given: string,
  { before, after, limit, backup, options, flags, escape_all, negate_match }: SedOptions,
  context: Context,
): Promise<Outcome | false> {
  const file = await expandHome(given)
  if (!(await exists(file))) return false
  const [from, to, only] = [before, after, limit].map((each) => escaped(each, escape_all))
  const script = `${only ? `/${only}/ ` : ''}${negate_match ? '!' : ''}s/${from}/${to}/${flags}`
  const edit = async (copy: string): Promise<Outcome> => {
    const outcome = await runProgram(['sed', '-i', ...splitWords(options), script, copy], context)
    return { ...outcome, stderr: outcome.stderr.replaceAll(copy, file) }
  }
  return inTurn(file, context, () => withPlace(file, (place) => editCopy(place, backup, edit)))
}

/** Let a program edit a copy in a folder of this user alone, and put it in place if its content is another one. */
async function editCopy(
  place: Place,
  backup: string,
  edit: (copy: string) => Promise<Outcome>,
): Promise<Outcome> {
  refuseForeignName(place)
  const folder = await mkdtemp(join(tmpdir(), 'salt-ts-sed-'))
  try {
    const copy = join(folder, basename(place.path))
    await withFile(
      heldFile(place).at,
      (source) => writeFile(copy, chunksOfLines(source), { flag: 'wx', mode: 0o600 }),
      { path: place.path },
    )
    const outcome = await edit(copy)
    if (outcome.retcode !== 0) return outcome
    if (backup !== '') await keepCopy(place, backup)
    await withFile(copy, (edited) => copyInto(place, edited))
    return outcome
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether sed(1) would find a pattern in a file. */
export async function sedFinds(
  given: string,
  { text, limit, flags }: { text: string; limit: string; flags: string },
  context: Context,
): Promise<boolean> {
  const file = await expandHome(given)
  if (!(await exists(file))) return false
  const script = `${limit ? `/${escaped(limit, false)}/ ` : ''}s/${escaped(text, false)}/$/p${flags}`
  return withFile(file, async (held) => {
    for await (const _ of chunksOfLines(held)) context.signal.throwIfAborted()
    const path = hasDescriptors ? heldForProgram(`/proc/self/fd/${held.fd}`) : file
    const { stdout } = await runProgram(['sed', '-n', '-r', '-e', script, path], context)
    return stdout !== ''
  })
}

/** Replace the matches of a pattern; of the flags, `g` stands for all instead of the first. */
export async function psedFile(
  given: string,
  { before, after, limit, backup, flags, escape_all }: Edit,
  context: Context,
): Promise<null> {
  if (limit !== '') throw new SaltInvocationError('limit is not supported; write it into the pattern')
  const options = {
    count: flags.includes('g') ? 0 : 1,
    flags: Array.from(flags.replaceAll('g', '')),
    append_if_not_found: false,
    prepend_if_not_found: false,
    backup: backup === '' ? (false as const) : backup,
    dry_run: false,
    show_changes: false,
    ignore_if_missing: false,
    preserve_inode: true,
    backslash_literal: false,
  }
  await replaceInFile(given, escaped(before, escape_all), after, options, context)
  return null
}
