/** Looks at a command line before it is parsed. */
import type { Program } from './program.ts'

/** Return the words before `--`, which ends the options. */
export function optionWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return end < 0 ? argv : argv.slice(0, end)
}

/** Return the value of an option, the last one if it is given several times. */
export function typedValue(argv: readonly string[], name: string, char?: string): string | undefined {
  let value: string | undefined
  for (const [at, word] of optionWords(argv).entries()) {
    if (word === `--${name}` || (char && word === `-${char}`)) value = argv[at + 1]
    else if (word.startsWith(`--${name}=`)) value = word.slice(name.length + 3)
    else if (char && word.startsWith(`-${char}`)) value = word.slice(2).replace(/^=/, '')
  }
  return value
}

export interface FlagSpec {
  readonly type: string
  readonly char?: string
  readonly aliases?: readonly string[]
  readonly description?: string
  readonly helpGroup?: string
  readonly helpValue?: string | string[]
  readonly options?: readonly string[]
  readonly multiple?: boolean
  readonly hidden?: boolean
}

export type Flag = readonly [name: string, facts: FlagSpec]

/** List the options of a program in the order of their declaration. */
export const flagsOf = (program: Program): Flag[] =>
  Object.entries(program.flags ?? {}) as [string, FlagSpec][]

/** Return the option that begins at a word, and how many words it takes. */
function optionAt(
  flags: readonly Flag[],
  argv: readonly string[],
  at: number,
): { flag: Flag; words: 1 | 2 } | undefined {
  const [name = '', value] = (argv[at] ?? '').split('=', 2)
  const long = name.startsWith('--') ? name.slice(2) : undefined
  const char = long === undefined && name.startsWith('-') ? name[1] : undefined
  const flag = flags.find(([known, facts]) =>
    long === undefined
      ? char !== undefined && facts.char === char
      : known === long || facts.aliases?.includes(long) === true,
  )
  if (!flag) return undefined
  const complete =
    flag[1].type === 'boolean' || value !== undefined || (char !== undefined && name.length > 2)
  return { flag, words: complete ? 1 : 2 }
}

/** Return the words that belong to no option. */
export function plainWords(program: Program, argv: readonly string[]): string[] {
  const flags = flagsOf(program)
  const options = optionWords(argv)
  const words: string[] = []
  for (let at = 0; at < options.length; ) {
    const option = optionAt(flags, options, at)
    const word = options[at] as string
    if (!option && !word.startsWith('-')) words.push(word)
    at += option?.words ?? 1
  }
  return [...words, ...argv.slice(options.length + 1)]
}

/** Return the command line with only the last occurrence of each option: the parser refuses repeated ones. */
export function withoutRepeatedOptions(program: Program, argv: readonly string[]): string[] {
  const flags = flagsOf(program)
  const end = optionWords(argv).length
  const places = new Map<string, readonly [at: number, words: number]>()
  const dropped = new Set<number>()
  for (let at = 0; at < end; ) {
    const option = optionAt(flags, argv, at)
    if (option && option.flag[1].type !== 'boolean' && !option.flag[1].multiple) {
      const [name] = option.flag
      const [before, count] = places.get(name) ?? [0, 0]
      for (let word = before; word < before + count; word++) dropped.add(word)
      places.set(name, [at, option.words])
    }
    at += option?.words ?? 1
  }
  return argv.filter((_, at) => !dropped.has(at))
}
