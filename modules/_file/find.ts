import type { Stats } from 'node:fs'
import { lstat, readdir, rm, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { pythonSearch } from '#internal'
import { digest } from './hashes.ts'
import { groupName, userName } from './owners.ts'
import { glob } from './paths.ts'
import { modeText } from './stats.ts'
import { readText } from './text.ts'

interface Found {
  readonly path: string
  readonly facts: Stats
}
type Test = (found: Found) => boolean | Promise<boolean>
type Action = (found: Found) => unknown

/** The options are wrong; the message is the function's return. */
class InvalidOption extends Error {}

/** Find the files below the paths that a shell pattern matches; the criteria and actions are those of find(1). */
export async function findFiles(
  pattern: string,
  options: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) {
  try {
    const search = plan(options)
    const rows: unknown[] = []
    for (const start of await glob(pattern)) await walk(start, 0, search, rows, signal)
    return rows.toSorted(byText)
  } catch (error) {
    if (error instanceof InvalidOption) return `error: ${error.message}`
    throw error
  }
}

const byText = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1)

interface Search {
  readonly tests: readonly Test[]
  readonly actions: readonly Action[]
  readonly mindepth: number
  readonly maxdepth: number
}

function plan({ mindepth = 0, maxdepth, test, ...options }: Readonly<Record<string, unknown>>): Search {
  const tests: Test[] = []
  const actions: Action[] = []
  for (const [name, value] of Object.entries(options).filter(([name]) => !name.startsWith('_'))) {
    if (value === '' || value === null || value === undefined || value === false)
      throw new InvalidOption(`missing value for "${name}" option`)
    const text = String(value)
    if (Object.hasOwn(criteria, name)) tests.push((criteria[name] as (value: string) => Test)(text))
    else if (name === 'print') actions.push(printing(text))
    else if (name === 'delete') {
      tests.push(ofType(text))
      actions.push(deleting(Boolean(test)))
    } else if (name === 'exec')
      throw new InvalidOption('"exec" is not supported; run the program with cmd.run on the paths found')
    else throw new InvalidOption(`invalid option "${name}"`)
  }
  return {
    tests,
    actions: actions.length > 0 ? actions : [({ path }) => path],
    mindepth: Number(mindepth),
    maxdepth: maxdepth === undefined ? Infinity : Number(maxdepth),
  }
}

/** Go through a folder, its entries before it, so that folders that become empty can be deleted. */
async function walk(path: string, depth: number, search: Search, rows: unknown[], signal: AbortSignal) {
  signal.throwIfAborted()
  const own = await lstat(path).catch(() => undefined)
  if (!own) return
  if (own.isDirectory() && depth < search.maxdepth) {
    const names = await readdir(path).catch(() => [])
    for (const name of names) await walk(join(path, name), depth + 1, search, rows, signal)
  }
  if (depth < search.mindepth || depth > search.maxdepth) return
  const found = { path, facts: own.isSymbolicLink() ? await stat(path).catch(() => own) : own }
  for (const matches of search.tests) if (!(await matches(found))) return
  for (const act of search.actions) {
    const row = await act(found)
    if (row !== null) rows.push(row)
  }
}

const criteria: Readonly<Record<string, (value: string) => Test>> = {
  name: (value) => named(globAsRegexp(value), ''),
  iname: (value) => named(globAsRegexp(value), 'i'),
  regex: (value) => named(value, ''),
  iregex: (value) => named(value, 'i'),
  type: ofType,
  owner: (value) => ownedBy(value, async ({ facts }) => [facts.uid, await userName(facts.uid)]),
  group: (value) => ownedBy(value, async ({ facts }) => [facts.gid, await groupName(facts.gid)]),
  size: ofSize,
  mtime: modified,
  grep: containing,
}

const globAsRegexp = (pattern: string): string =>
  `${pattern.replaceAll('.', '\\.').replaceAll('?', '.?').replaceAll('*', '.*')}$`

function named(pattern: string, flags: string): Test {
  const search = pythonSearch(pattern, flags)
  return ({ path }) => search.begins(basename(path))
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
  return async ({ path, facts }) => {
    const own = await lstat(path)
    return letters.some((letter) => TYPES[letter]?.(own) || TYPES[letter]?.(facts))
  }
}

function ownedBy(value: string, owner: (found: Found) => Promise<readonly unknown[]>): Test {
  const wanted = value.replaceAll(',', ' ').split(/\s+/)
  return async (found) => (await owner(found)).some((one) => wanted.includes(String(one)))
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
  const resolution = given.at(-1)?.unit ?? 0
  const limit = Date.now() / 1000 - seconds
  if (modifier === '-') return ({ facts }) => facts.mtimeMs / 1000 >= limit
  if (modifier === '+') return ({ facts }) => facts.mtimeMs / 1000 <= limit
  return ({ facts }) => facts.mtimeMs / 1000 >= limit - resolution && facts.mtimeMs / 1000 <= limit
}

function containing(value: string): Test {
  const search = pythonSearch(value)
  return async ({ path, facts }) => facts.isFile() && search.found((await readText(path)).text)
}

function deleting(isTest: boolean): Action {
  return async ({ path, facts }) => {
    if (!isTest && facts.isDirectory()) await rmdir(path).catch(() => undefined)
    else if (!isTest) await rm(path, { force: true })
    return path
  }
}

const FIELDS: Readonly<Record<string, (found: Found) => unknown>> = {
  path: ({ path }) => path,
  name: ({ path }) => basename(path),
  dirname: ({ path }) => dirname(path),
  size: ({ facts }) => facts.size,
  type: ({ facts }) => Object.entries(TYPES).find(([, is]) => is(facts))?.[0] ?? '?',
  mode: ({ facts }) => Number.parseInt(modeText(facts.mode), 8),
  mtime: ({ facts }) => facts.mtimeMs / 1000,
  user: ({ facts }) => userName(facts.uid),
  group: ({ facts }) => groupName(facts.gid),
  md5: ({ path, facts }) => (facts.isFile() ? digest(path, 'md5') : ''),
}

function printing(value: string): Action {
  const names = value.replaceAll(',', ' ').split(/\s+/).filter(Boolean)
  const unknown = names.find((name) => !Object.hasOwn(FIELDS, name))
  if (unknown) throw new InvalidOption(`invalid print option "${value}"`)
  return async (found) => {
    const row = await Promise.all(names.map((name) => FIELDS[name]?.(found)))
    return row.length === 1 ? row[0] : row
  }
}
