/** Examples in doc comments: would the calls be accepted? */
import type { Fn } from '../../author/fn.ts'
import { sentence } from '../../base/sentence.ts'
import { refusalOf } from '../calls/check-call.ts'
import { typedWords } from '../calls/typed.ts'
import { parseInput } from '../calls/words.ts'
import { makeLoaded } from '../functions.ts'
import type { KindName } from '../kinds.ts'
import { splitName } from '../names.ts'
import { type KnownFunctions, unknown } from './calls.ts'
import { type Finding, finding } from './rules.ts'
import { shellWords } from './shell-words.ts'
import type { SourceText } from './source-text.ts'

interface Example {
  readonly at: number
  readonly line: string
}

/** A call as an example shows it. */
interface Call {
  readonly fun: string
  readonly words: readonly string[]
}

/** The programs that call the functions of a kind. */
const PROGRAMS: Partial<Record<KindName, readonly string[]>> = {
  modules: ['salt', 'salt-call'],
  runners: ['salt-run'],
}

export interface OwnFunctions {
  readonly kind: KindName
  /** Names of the file for users. */
  readonly names: readonly string[]
  readonly functions: ReadonlyMap<string, Fn>
}

export function exampleFindings(
  source: SourceText,
  own: OwnFunctions,
  known: KnownFunctions | undefined,
): Finding[] {
  return examplesIn(source).flatMap(({ at, line }) => {
    const call = callIn(line, own)
    const why = call && whyRefused(call, own, known)
    return why === undefined
      ? []
      : [finding('refused-example', source.place(at), `The example would be refused: ${why}`)]
  })
}

function examplesIn(source: SourceText): Example[] {
  return source.docComments().flatMap(({ at, text }) => {
    const examples: Example[] = []
    let inExample = false
    for (const match of text.matchAll(
      /^[ \t]*(?:\/\*\*|\*(?!\/))?[ \t]*(@\w+)?[ \t]*([^\n]*?)(?:\*\/)?$/gm,
    )) {
      const [whole, tag, line = ''] = match
      inExample = tag === undefined ? inExample : tag === '@example'
      if (inExample && line.trim() !== '')
        examples.push({ at: at + match.index + whole.lastIndexOf(line), line: line.trim() })
    }
    return examples
  })
}

/** Return the call of a command line of Salt; undefined for any other text, and for one with options. */
function callIn(line: string, { kind }: OwnFunctions): Call | undefined {
  const [program = '', ...words] = shellWords(line) ?? []
  if (!PROGRAMS[kind]?.includes(program)) return undefined
  const [fun, ...given] = program === 'salt' ? words.slice(1) : words
  const plain = words.every((word) => !/^-(?!\d)/.test(word))
  return plain && fun !== undefined && /^[\w-]+\.[\w-]+$/.test(fun) ? { fun, words: given } : undefined
}

function whyRefused(
  { fun, words }: Call,
  { names, functions }: OwnFunctions,
  known: KnownFunctions | undefined,
): string | undefined {
  const [module, name = ''] = splitName(fun)
  const own = names.includes(module) ? functions.get(name) : undefined
  if (!own) return known && !known.has(fun) ? unknown(fun, known) : undefined
  const refusal = refusalOf({ fun, arg: parseInput(words), words: typedWords(words) }, makeLoaded(fun, own))
  return refusal && sentence(refusal)
}
