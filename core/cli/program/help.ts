/** Renders `--help` and `--help-all` from the program class. */
import type { Program } from './program.ts'
import { type Flag, flagsOf } from './typed-options.ts'

const FLAG_COLUMN = 34
const SHORT_COLUMN = 28
const WIDTH = 100

/** Return the help with the most important options, which fits on one screen. */
export function shortHelp(program: Program): string {
  const { essential } = program
  if (!essential) return fullHelp(program)
  const flags = essential.flatMap((name) => flagsOf(program).filter(([flag]) => flag === name))
  return assembled([
    `${usageOf(program)}\n${program.description ?? ''}`,
    flags.map((flag) => flagLine(flag, SHORT_COLUMN)).join('\n'),
    examplesOf(program, 'Examples:'),
    `All options: ${program.id} --help-all. In full: man ${program.id}.`,
  ])
}

export function fullHelp(program: Program): string {
  const sections = [...optionGroups(program)].map(
    ([title, flags]) => `${title}\n${flags.map((flag) => flagLine(flag, FLAG_COLUMN)).join('\n')}`,
  )
  return assembled([
    usageOf(program),
    program.description ?? '',
    ...sections,
    examplesOf(program, 'EXAMPLES'),
  ])
}

/** Group the options by title, in the order of their declaration. */
export function optionGroups(program: Program): Map<string, Flag[]> {
  const groups = new Map<string, Flag[]>()
  for (const flag of flagsOf(program)) {
    const title = flag[1].helpGroup ?? 'OPTIONS'
    groups.set(title, [...(groups.get(title) ?? []), flag])
  }
  return groups
}

const assembled = (parts: readonly string[]) => `${parts.filter((part) => part !== '').join('\n\n')}\n`

const usageOf = (program: Program) => `Usage: ${String(program.usage ?? program.id)}`

function examplesOf({ examples = [] }: Program, title: string): string {
  return examples.length === 0 ? '' : [title, ...examples.map((example) => `  ${String(example)}`)].join('\n')
}

function flagLine([name, flag]: Flag, column: number): string {
  const value = flag.type === 'boolean' ? '' : ` <${flag.helpValue ?? 'value'}>`
  const spelled = `  ${flag.char ? `-${flag.char},` : '   '} --${name}${value}`
  const options = flag.options && column === FLAG_COLUMN ? ` (${flag.options.join(', ')})` : ''
  const [first = '', ...rest] = wrapped(`${flag.description ?? ''}${options}`, WIDTH - column)
  const start = spelled.length < column ? spelled.padEnd(column) : `${spelled}\n${' '.repeat(column)}`
  return [start + first, ...rest.map((line) => ' '.repeat(column) + line)].join('\n')
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
