/** The text of `--help`, from the command class. */
import type { Program } from './program.ts'

interface FlagFacts {
  readonly type: string
  readonly char?: string
  readonly description?: string
  readonly helpGroup?: string
  readonly helpValue?: string | string[]
  readonly options?: readonly string[]
}

const FLAG_COLUMN = 34
const WIDTH = 100

export function usageText(program: Program): string {
  const groups = grouped(program)
  const sections = [...groups].map(([title, lines]) => `${title}\n${lines.join('\n')}`)
  const examples = (program.examples ?? []).map((example) => `  $ ${String(example)}`)
  const parts = [`USAGE\n  $ ${String(program.usage ?? program.id)}`, program.description ?? '', ...sections]
  if (examples.length > 0) parts.push(`EXAMPLES\n${examples.join('\n')}`)
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function grouped(program: Program): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const [name, flag] of Object.entries(program.flags ?? {}) as [string, FlagFacts][]) {
    const title = flag.helpGroup ?? 'OPTIONS'
    groups.set(title, [...(groups.get(title) ?? []), flagLine(name, flag)])
  }
  return groups
}

function flagLine(name: string, flag: FlagFacts): string {
  const value = flag.type === 'boolean' ? '' : ` <${flag.helpValue ?? 'value'}>`
  const spelled = `  ${flag.char ? `-${flag.char},` : '   '} --${name}${value}`
  const options = flag.options ? ` (${flag.options.join(', ')})` : ''
  const [first = '', ...rest] = wrapped(`${flag.description ?? ''}${options}`, WIDTH - FLAG_COLUMN)
  const start =
    spelled.length < FLAG_COLUMN ? spelled.padEnd(FLAG_COLUMN) : `${spelled}\n${' '.repeat(FLAG_COLUMN)}`
  return [start + first, ...rest.map((line) => ' '.repeat(FLAG_COLUMN) + line)].join('\n')
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
