/** What may come next on a command line. */
import { type Flag, optionAt } from '../typed-options.ts'
import { wordsOf } from './line.ts'
import type { KeySection, Sources } from './sources.ts'
import type { Tables } from './tables.ts'

/** A word, and what it means, for shells that show it. */
export type Candidate = readonly [word: string, about?: string]

/** `line`: what is typed up to the cursor, the program first. */
export async function completions(line: string, tables: Tables, sources: Sources): Promise<Candidate[]> {
  const words = wordsOf(line)
  const start = words.findIndex((word) => nameOf(word) in tables)
  if (start < 0 || start === words.length - 1) return []
  const program = nameOf(words[start] as string)
  const current = words.at(-1) as string
  const typed = read(tables[program] as readonly Flag[], words.slice(start + 1, -1))
  const proposed = await proposals(program, typed, current, tables, sources)
  return proposed.filter(([word]) => word.startsWith(current))
}

type Proposed = readonly Candidate[] | Promise<readonly Candidate[]>

const nameOf = (word: string): string => word.slice(word.lastIndexOf('/') + 1)

interface Typed {
  /** Words that belong to no option. */
  readonly words: readonly string[]
  readonly options: ReadonlySet<string>
  /** The option whose value comes next. */
  readonly waiting?: Flag
  /** After `--`, words are no options. */
  readonly ended: boolean
}

function read(flags: readonly Flag[], typed: readonly string[]): Typed {
  const words: string[] = []
  const options = new Set<string>()
  for (let at = 0; at < typed.length; at++) {
    if (typed[at] === '--') return { words: [...words, ...typed.slice(at + 1)], options, ended: true }
    const option = optionAt(flags, typed, at)
    if (!option) {
      words.push(typed[at] as string)
      continue
    }
    options.add(option.flag[0])
    if (option.words === 2 && ++at === typed.length)
      return { words, options, waiting: option.flag, ended: false }
  }
  return { words, options, ended: false }
}

function proposals(
  program: string,
  typed: Typed,
  current: string,
  tables: Tables,
  sources: Sources,
): Proposed {
  const flags = tables[program] as readonly Flag[]
  if (typed.waiting) return valuesOf(program, typed.waiting, typed, sources)
  if (!typed.ended && current.startsWith('-')) {
    const [long] = current.split('=', 1)
    const flag = current.includes('=') ? optionAt(flags, [current], 0)?.flag : undefined
    if (flag)
      return valuesOf(program, flag, typed, sources).map(([word, about]) => [`${long}=${word}`, about])
    return optionNames(flags, current)
  }
  return operands(program, typed, current, sources)
}

function optionNames(flags: readonly Flag[], current: string): Candidate[] {
  const long = flags.map(([name, { description }]): Candidate => [`--${name}`, description])
  if (current.startsWith('--')) return long
  const short = flags.flatMap(([, { char, description }]): Candidate[] =>
    char ? [[`-${char}`, description]] : [],
  )
  return [...short, ...long]
}

const KEY_OPTIONS: Readonly<Record<string, readonly KeySection[]>> = {
  accept: ['minions_pre'],
  reject: ['minions_pre'],
  delete: ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'],
  print: ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'],
  finger: ['minions', 'minions_pre', 'minions_rejected', 'minions_denied'],
}
const INCLUDED: Readonly<Record<string, KeySection>> = {
  'include-accepted': 'minions',
  'include-rejected': 'minions_rejected',
  'include-denied': 'minions_denied',
}

/** None where a path may come, which shells complete themselves. */
function valuesOf(
  program: string,
  [name, { options = [] }]: Flag,
  typed: Typed,
  sources: Sources,
): readonly Candidate[] {
  if (name === 'out') return plain(sources.outputters())
  const sections = program === 'salt-key' ? KEY_OPTIONS[name] : undefined
  if (sections) {
    const more = [...typed.options].flatMap((option) => INCLUDED[option] ?? [])
    return plain(sources.keys([...new Set([...sections, ...more])]))
  }
  if (program === 'salt-key' && name === 'list')
    return plain(['accepted', 'all', 'denied', 'pre', 'rejected', 'unaccepted'])
  return plain(options)
}

const plain = (words: readonly string[]): Candidate[] => words.map((word) => [word])

const JID_RUNNERS = new Set(['jobs.lookup_jid', 'jobs.print_job', 'jobs.list_job', 'jobs.exit_success'])

async function operands(
  program: string,
  { words, options }: Typed,
  current: string,
  sources: Sources,
): Promise<readonly Candidate[]> {
  switch (program) {
    case 'salt':
      if (words.length === 0) return targets(options, current, sources)
      if (words.length === 1) return functionNames(current, await sources.functions())
      return keywords(await sources.params(words[1] as string), words.slice(2))
    case 'salt-call':
      if (words.length === 0) return plain(sources.localFunctions())
      return keywords(sources.localParams(words[0] as string), words.slice(1))
    case 'salt-run':
      if (words.length === 0) return plain(sources.runners())
      if (words.length === 1 && JID_RUNNERS.has(words[0] as string)) return sources.jobs()
      return keywords(sources.runnerParams(words[0] as string), words.slice(1))
    case 'salt-ts':
      if (words.length === 0) return plain(['completion', 'create', 'test', 'types'])
      return words.length === 1 && words[0] === 'completion' ? plain(['bash', 'fish', 'zsh']) : []
    default:
      return []
  }
}

/** `name=` of what a function takes and was not given yet. */
function keywords(names: readonly string[], given: readonly string[]): Candidate[] {
  return names
    .filter((name) => !given.some((word) => word.startsWith(`${name}=`)))
    .map((name) => [`${name}=`])
}

/** Several functions are joined by commas. */
function functionNames(current: string, names: readonly string[]): Candidate[] {
  const before = current.slice(0, current.lastIndexOf(',') + 1)
  return names.map((name) => [before + name])
}

function targets(options: ReadonlySet<string>, current: string, sources: Sources): Proposed {
  if (options.has('nodegroup')) return plain(sources.nodegroups())
  if (options.has('grain') || options.has('grain-pcre')) return grains('', current, sources)
  if (options.has('list')) {
    const before = current.slice(0, current.lastIndexOf(',') + 1)
    return sources.keys(['minions']).map((id) => [before + id])
  }
  if (options.has('compound')) {
    const before = current.slice(0, Math.max(current.lastIndexOf(' '), current.lastIndexOf('(')) + 1)
    const word = current.slice(before.length)
    if (/^[GP]@/.test(word)) return grains(before + word.slice(0, 2), current, sources)
    if (word.startsWith('N@')) return sources.nodegroups().map((name) => [`${before}N@${name}`])
    return sources.keys(['minions']).map((id) => [before + id])
  }
  return ['pcre', 'pillar', 'pillar-pcre', 'ipcidr', 'range'].some((name) => options.has(name))
    ? []
    : plain(sources.keys(['minions']))
}

/** Keys, and after a colon the values that minions have. */
async function grains(before: string, current: string, sources: Sources): Promise<Candidate[]> {
  const [key, ...more] = current.slice(before.length).split(':')
  if (more.length === 0) return (await sources.grainKeys()).map((name) => [`${before}${name}:`])
  return (await sources.grainValues(key as string)).map((value) => [`${before}${key}:${value}`])
}
