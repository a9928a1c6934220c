/** What files import, as their text shows it. Imports of types alone do not count: they are gone when the file runs. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { fileOf } from '../files/import-cycle.ts'
import { type Finding, finding } from './rules.ts'
import { SourceText } from './source-text.ts'

export interface Import {
  readonly specifier: string
  /** Position of the specifier. */
  readonly at: number
  /** Whether it is imported when the file is, and not later by `import()`. */
  readonly first: boolean
}

/** The clause ends before another such word, or a file with many would be read from each to its end. */
const STATEMENT =
  /(?<![\w$.])(?:import|export)\b(?<clause>(?:(?!\b(?:import|export)\b)[^'"`;()=])*?)(?=['"])(?<=\b(?:from|import)\s*)/g
const CALL = /(?<![\w$.])(?:import|require)\s*\(\s*(?=['"`])/g

export function importsOf(source: SourceText): Import[] {
  const read = (match: RegExpExecArray, first: boolean): Import[] => {
    const at = match.index + match[0].length
    const specifier = source.stringAt(at)
    return specifier === undefined || isOfTypes(match.groups?.clause) ? [] : [{ specifier, at, first }]
  }
  return [
    ...source.matches(STATEMENT).flatMap((match) => read(match, true)),
    ...source.matches(CALL).flatMap((match) => read(match, false)),
  ]
}

/** Whether an import has only types: `type Fn`, `{ type Fn, type Param }`. */
function isOfTypes(clause = ''): boolean {
  if (/^\s*type\b(?!\s*(?:,|from\b))/.test(clause)) return true
  const names = /^\s*\{([^}]*)\}\s*from/.exec(clause)?.[1]?.split(',') ?? []
  const named = names.filter((name) => name.trim() !== '')
  return named.length > 0 && named.every((name) => /^\s*type\s/.test(name))
}

/** An import of another file by a relative path. */
interface Step {
  readonly from: SourceText
  readonly at: number
  /** Path of the imported file. */
  readonly to: string
}

export interface LocalFiles {
  /** The file, and those that it imports by relative paths, directly or not. */
  readonly files: readonly SourceText[]
  readonly findings: readonly Finding[]
}

const isLocal = ({ specifier }: Import) => /^\.\.?\//.test(specifier)

/** Read a file and the local files that it imports; find imports of missing files, and circles. */
export async function localFiles(file: string): Promise<LocalFiles> {
  const read = new Map<string, SourceText>()
  const steps = new Map<string, Step[]>()
  const findings: Finding[] = []
  const waiting = [file]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (read.has(next)) continue
    const source = await SourceText.read(next)
    read.set(next, source)
    const own: Step[] = []
    const folder = path.dirname(await realpath(next).catch(() => next)) // as Node follows links
    for (const { specifier, at, first } of importsOf(source).filter(isLocal)) {
      const to = await fileOf(path.resolve(folder, specifier.replace(/[?#].*/, '')))
      if (to === undefined) findings.push(missing(source, specifier, at))
      else if (/\.[cm]?[jt]s$/.test(to)) waiting.push(to)
      if (to !== undefined && first) own.push({ from: source, at, to })
    }
    steps.set(next, own)
  }
  return { files: [...read.values()], findings: [...findings, ...circles(file, steps)] }
}

const missing = (source: SourceText, specifier: string, at: number): Finding =>
  finding(
    'missing-import',
    source.place(at),
    `There is no file '${specifier}'; create it, or correct the path.`,
  )

/** Find the circles among files. Each is reported once, wherever the search begins. */
function circles(start: string, steps: ReadonlyMap<string, readonly Step[]>): Finding[] {
  const found = new Map<string, Finding>()
  const done = new Set<string>()
  const way: Step[] = []
  const visit = (file: string): void => {
    for (const step of steps.get(file) ?? []) {
      way.push(step)
      const begin = way.findIndex(({ from }) => from.path === step.to)
      if (begin >= 0) report(way.slice(begin))
      else if (!done.has(step.to)) visit(step.to)
      way.pop()
    }
    done.add(file)
  }
  const report = (circle: readonly Step[]): void => {
    const first = circle.reduce((a, b) => (a.from.path < b.from.path ? a : b))
    const begin = circle.indexOf(first)
    const ordered = [...circle.slice(begin), ...circle.slice(0, begin)]
    const key = ordered.map(({ from }) => from.path).join('\n')
    const told = ordered.map(({ from, at, to }) => `${from.path}:${from.place(at).line} imports ${to}`)
    const message = `These files import each other: ${told.join(', and ')}. What one takes from the other may not be set yet; move what both need to a third file.`
    found.set(key, finding('circular-import', first.from.place(first.at), message))
  }
  visit(start)
  return [...found.values()]
}
