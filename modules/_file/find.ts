import { lstatSync, type Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type Context, SaltInvocationError } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { runProgram } from '../_program/run.ts'
import { digest } from './hashes.ts'
import { groupId, type OwnerNames, ownerNames, userId } from './owners.ts'
import { glob, lstatIfAny, statIfAny, statOf } from './paths.ts'
import { searchFor } from './patterns.ts'
import { withPlace } from './place.ts'
import { anyWindow } from './reading.ts'
import { forEachEntry, removeTree, slices } from './tree.ts'

/** A file of the tree. Facts about it are read when they are asked for; they throw if the file is gone. */
class Found {
  /** The name for operations, in an open folder. */
  readonly at: string
  readonly path: string
  #own: Stats | undefined
  #facts: Stats | undefined

  constructor(at: string, path: string) {
    this.at = at
    this.path = path
  }

  /** Facts about the file itself. */
  get own(): Stats {
    this.#own ??= lstatSync(this.at)
    return this.#own
  }

  /** Read the facts now, since they are about to change. */
  keep(): void {
    this.#own = lstatIfAny(this.at)
  }

  /** Facts about the file that a link leads to; about the link itself if it is broken. */
  get facts(): Stats {
    this.#facts ??= (this.own.isSymbolicLink() ? statIfAny(this.at) : undefined) ?? this.own
    return this.#facts
  }
}

type Test = (found: Found) => boolean | Promise<boolean>
type Action = (found: Found) => unknown

/** The options are wrong; the message is the function's return. */
class InvalidOption extends Error {}

/** Find the files below the paths that a shell pattern matches; the criteria and actions are those of find(1). */
export async function findFiles(
  pattern: string,
  options: Readonly<Record<string, unknown>>,
  context: Context,
) {
  try {
    const search = await plan(options, context)
    const rows: unknown[] = []
    for (const start of await glob(pattern)) await begin(start, search, rows)
    return rows.toSorted(byValue)
  } catch (error) {
    if (error instanceof InvalidOption) return `error: ${error.message}`
    throw error
  }
}

/** Order texts and numbers, and rows by their first cell that differs. */
function byValue(one: unknown, other: unknown): number {
  if (!Array.isArray(one) || !Array.isArray(other))
    return Number((one as string) > (other as string)) || -Number((one as string) < (other as string))
  const at = one.findIndex((cell, index) => cell !== other[index])
  return at < 0 ? 0 : byValue(one[at], other[at])
}

interface Search {
  /** Called for each file: see `slices`. */
  readonly slice: ReturnType<typeof slices>
  readonly tests: readonly Test[]
  readonly actions: readonly Action[]
  readonly mindepth: number
  readonly maxdepth: number
}

async function plan(
  { mindepth = 0, maxdepth, test, ...options }: Readonly<Record<string, unknown>>,
  context: Context,
): Promise<Search> {
  const tests: Test[] = []
  const actions: Action[] = []
  const given = Object.entries(options).filter(([name]) => !name.startsWith('_'))
  for (const [name, value] of given.toSorted(([one], [other]) => costOf(one) - costOf(other))) {
    if (value === '' || value === null || value === undefined || value === false)
      throw new InvalidOption(`missing value for "${name}" option`)
    if (typeof value === 'object')
      throw new InvalidOption(
        `${name} is a list or a map in YAML; for text, quote it twice: ${name}='"[ab]"'`,
      )
    const text = String(value)
    if (Object.hasOwn(criteria, name))
      tests.push(await (criteria[name] as (typeof criteria)[string])(text, context.signal))
    else if (name === 'print') actions.push(printing(text, context.signal))
    else if (name === 'delete') {
      tests.push(ofType(text.includes('a') ? 'bcdpfls' : text))
      actions.push(deleting(Boolean(test), context.signal))
    } else if (name === 'exec') actions.push(executing(text, context))
    else throw new InvalidOption(`invalid option "${name}"`)
  }
  return {
    slice: slices(context.signal),
    tests,
    actions: actions.length > 0 ? actions : [({ path }) => path],
    mindepth: Number(mindepth),
    maxdepth: maxdepth === undefined ? Infinity : Number(maxdepth),
  }
}

/** Go through a folder, its entries before it, so that folders that become empty can be deleted. */
async function walk(
  found: Found,
  isFolder: boolean,
  depth: number,
  search: Search,
  rows: unknown[],
): Promise<void> {
  await search.slice()
  if (isFolder && depth < search.maxdepth) {
    found.keep()
    await forEachEntry(found.at, found.path, ({ at, path, isFolder }) =>
      walk(new Found(at, path), isFolder, depth + 1, search, rows),
    )
  }
  if (depth < search.mindepth || depth > search.maxdepth) return
  try {
    for (const matches of search.tests) if (!(await matches(found))) return
    for (const act of search.actions) {
      const row = await act(found)
      if (row !== null) rows.push(row)
    }
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).syscall === 'lstat'
    if (!isGone) throw error
  }
}

/** Begin at a path, which may be a link to a folder. */
async function begin(path: string, search: Search, rows: unknown[]): Promise<void> {
  const isFolder = (await statOf(path))?.isDirectory() ?? false
  await withPlace(path, ({ at }) => walk(new Found(at, path), isFolder, 0, search, rows), {
    follow: isFolder,
  })
}

const criteria: Readonly<Record<string, (value: string, signal: AbortSignal) => Test | Promise<Test>>> = {
  name: (value) => named(globAsRegexp(value), ''),
  iname: (value) => named(globAsRegexp(value), 'i'),
  regex: (value) => matching(value, ''),
  iregex: (value) => matching(value, 'i'),
  type: ofType,
  owner: (value) => ownedBy(value, 'user', userId, ({ facts }) => facts.uid),
  group: (value) => ownedBy(value, 'group', groupId, ({ facts }) => facts.gid),
  size: ofSize,
  mtime: modified,
  grep: containing,
}

/** Tests of names come first, since they read nothing, and of contents last. */
const costOf = (option: string): number =>
  ['name', 'iname', 'regex', 'iregex'].includes(option) ? 0 : option === 'grep' ? 2 : 1

const globAsRegexp = (pattern: string): string =>
  `${pattern.replaceAll('.', '\\.').replaceAll('?', '.?').replaceAll('*', '.*')}$`

function named(pattern: string, flags: string): Test {
  const search = searchFor(pattern, flags)
  return ({ path }) => search.begins(basename(path))
}

/** The condition that a name matches a regular expression, which users write. */
function matching(pattern: string, flags: string): Test {
  try {
    return named(pattern, flags)
  } catch {
    throw new InvalidOption(`invalid regular expression: "${pattern}"`)
  }
}

const TYPES: Readonly<Record<string, (facts: Stats) => boolean>> = {
  b: (facts) => facts.isBlockDevice(),
  c: (facts) => facts.isCharacterDevice(),
  d: (facts) => facts.isDirectory(),
  f: (facts) => facts.isFile(),
  l: (facts) => facts.isSymbolicLink(),
  p: (facts) => facts.isFIFO(),
  s: (facts) => facts.isSocket(),
}

function ofType(value: string): Test {
  const letters = Array.from(value.replace(/[\s,]/g, ''))
  const unknown = letters.find((letter) => !Object.hasOwn(TYPES, letter))
  if (unknown) throw new InvalidOption(`invalid file type "${unknown}"`)
  return ({ own, facts }) => letters.some((letter) => TYPES[letter]?.(own) || TYPES[letter]?.(facts))
}

/** The condition that a file belongs to one of several users or groups, given by names or ids. */
async function ownedBy(
  value: string,
  kind: 'user' | 'group',
  idOf: (name: string) => Promise<number | undefined>,
  owner: (found: Found) => number,
): Promise<Test> {
  const ids = new Set<number>()
  for (const name of value.replaceAll(',', ' ').trim().split(/\s+/)) {
    const id = /^\d+$/.test(name) ? Number(name) : await idOf(name)
    if (id === undefined) throw new InvalidOption(`no such ${kind} "${name}"`)
    ids.add(id)
  }
  return (found) => ids.has(owner(found))
}

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

function ofSize(value: string): Test {
  const [, style, number, unit = ''] = /^\s*([+-]?)(\d+(?:\.\d*)?)\s*([bkmgt]?)\s*$/i.exec(value) ?? []
  if (number === undefined) throw new InvalidOption(`invalid size: "${value}"`)
  const multiplier = UNITS[unit.toLowerCase()] ?? 1
  const size = Math.trunc(Number(number) * multiplier)
  if (style === '-') return ({ facts }) => facts.size <= size
  if (style === '+') return ({ facts }) => facts.size >= size
  return ({ facts }) => facts.size >= size && facts.size <= size + multiplier - 1
}

const INTERVAL =
  /^\s*([+-]?)(?:([\d.]+)\s*w)?\s*(?:([\d.]+)\s*d)?\s*(?:([\d.]+)\s*h)?\s*(?:([\d.]+)\s*m)?\s*(?:([\d.]+)\s*s)?\s*$/i
const INTERVAL_SECONDS = [604_800, 86_400, 3600, 60, 1]

function modified(value: string): Test {
  const [, modifier, ...parts] = INTERVAL.exec(value) ?? []
  if (modifier === undefined) throw new InvalidOption(`invalid time interval: '${value}'`)
  const given = INTERVAL_SECONDS.map((unit, at) => ({ unit, count: parts[at] })).filter(({ count }) => count)
  const seconds = given.reduce((sum, { unit, count }) => sum + unit * Number(count), 0)
  const resolution = given.at(-1)?.unit
  if (resolution === undefined) throw new InvalidOption(`invalid time interval: '${value}'`)
  const limit = Date.now() / 1000 - Math.trunc(seconds / resolution) * resolution
  const time = ({ facts }: Found) => Math.floor(facts.mtimeMs / 1000)
  return modifier === '-' ? (found) => time(found) >= limit : (found) => time(found) <= limit
}

function containing(value: string, signal: AbortSignal): Test {
  const search = searchFor(value)
  return async ({ at, facts }) =>
    facts.isFile() &&
    (await anyWindow(at, (window) => search.found(window.toString()), signal).catch((error) => {
      signal.throwIfAborted()
      if (error instanceof SaltInvocationError) throw error
      return false
    }))
}

/** Delete what was found; what cannot be deleted is not returned. */
function deleting(isTest: boolean, signal: AbortSignal): Action {
  return async ({ at, path }) => {
    if (isTest) return path
    return removeTree(at, path, signal).then(
      () => path,
      () => null,
    )
  }
}

/** Run a command for each path, which takes the place of `{}` in a word and is never split. */
function executing(command: string, context: Context): Action {
  const words = splitWords(command)
  return async ({ path }) => {
    const [program = '', ...rest] = words.map((word) => word.replaceAll('{}', path))
    const shown = command.replaceAll('{}', path)
    try {
      const { stdout } = await runProgram([program, ...rest], context, {
        ignoreRetcode: true,
        untrimmed: true,
      })
      return `${shown}:\n${stdout}\n`
    } catch (error) {
      context.log.error(`Exception while executing command "${shown}": ${(error as Error).message}`)
      return `${path}: Failed`
    }
  }
}

interface Lookups {
  readonly names: OwnerNames
  readonly signal: AbortSignal
}

const FIELDS: Readonly<Record<string, (found: Found, lookups: Lookups) => unknown>> = {
  path: ({ path }) => path,
  name: ({ path }) => basename(path),
  dirname: ({ path }) => dirname(path),
  size: ({ facts }) => facts.size,
  type: ({ facts }) => Object.entries(TYPES).find(([, is]) => is(facts))?.[0] ?? '?',
  mode: ({ facts }) => facts.mode & 0o777,
  mtime: ({ facts }) => Math.floor(facts.mtimeMs / 1000),
  user: ({ facts }, { names }) => names.user(facts.uid),
  group: ({ facts }, { names }) => names.group(facts.gid),
  md5: ({ at, facts }, { signal }) => (facts.isFile() ? md5Of(at, signal) : ''),
}

/** Return the digest of a file; '' if it cannot be read. */
async function md5Of(at: string, signal: AbortSignal): Promise<string> {
  try {
    return await digest(at, 'md5', signal)
  } catch {
    signal.throwIfAborted()
    return ''
  }
}

function printing(value: string, signal: AbortSignal): Action {
  const fields = value.replaceAll(',', ' ').split(/\s+/).filter(Boolean)
  const unknown = fields.find((name) => !Object.hasOwn(FIELDS, name))
  if (unknown) throw new InvalidOption(`invalid print option "${value}"`)
  const lookups = { names: ownerNames(), signal }
  return async (found) => {
    const row = await Promise.all(fields.map((field) => FIELDS[field]?.(found, lookups)))
    return row.length === 1 ? row[0] : row
  }
}
