import { createRequire } from 'node:module'
import type { ScalarTag } from 'yaml'
import { Float } from '../base/float.ts'
import { FLOAT, resolvePlain, type ScalarKind, scalarKinds } from './scalar.ts'
import { yamlProblem } from './yaml-problem.ts'

/**
 * Read a YAML document the way Salt reads its configuration: YAML 1.1, no dates, no tags but those of the values,
 * no key twice, aliases bounded.
 *
 * @throws Error whose message says what is wrong and where
 */
export function parseYaml(text: string): unknown {
  return parseFlat(text) ?? parseAny(text, scalarTags, Number.POSITIVE_INFINITY)
}

/** The same for values of strangers, which are passed on: 3.0 is a `Float`, and only so many of them are read. */
export const parseYamlValue = (text: string): unknown => parseAny(text, keepingFloats, MAX_PARTS)

const blank = /^[ ]*(?:#.*)?$/
const entry = /^([A-Za-z_]\w*):(?:[ ]+([A-Za-z0-9/][\w./-]*)?)?(?:[ ]+#.*|[ ]*)$/

/**
 * Most configuration files are lines of `key: word`. Those are read here, because loading the parser costs more than
 * all the rest of a short command. Undefined for everything this cannot prove to be such a file.
 */
function parseFlat(text: string): Record<string, unknown> | undefined {
  const values = new Map<string, unknown>()
  for (const line of text.split(/\r?\n/)) {
    if (blank.test(line)) continue
    const [, key, word = ''] = entry.exec(line) ?? []
    if (key === undefined || values.has(key) || typeof resolvePlain(key) !== 'string') return undefined
    values.set(key, resolvePlain(word))
  }
  return values.size > 0 ? Object.fromEntries(values) : undefined
}

const tagsOf = (kinds: readonly ScalarKind[]): ScalarTag[] =>
  kinds.map(({ tag, test, resolve }) => ({ tag, test, default: true, resolve: (text) => resolve(text) }))

const scalarTags = tagsOf(scalarKinds)

const keepingFloats = tagsOf(
  scalarKinds.map((kind) =>
    kind.tag === FLOAT ? { ...kind, resolve: (text) => asFloat(kind.resolve(text)) } : kind,
  ),
)

const asFloat = (value: unknown): unknown => (Number.isInteger(value) ? new Float(Number(value)) : value)

/** Deeper than any configuration; shallow enough for code that descends by calling itself. */
const MAX_DEPTH = 100
/** Signs, values and spaces. The parser takes a hundred times as long as one of JSON, and in maps more with every key. */
const MAX_PARTS = 10_000

function parseAny(text: string, customTags: ScalarTag[], mostParts: number): unknown {
  const yaml = createRequire(import.meta.url)('yaml') as typeof import('yaml')
  refuseExcess(text, mostParts, yaml)
  const document = yaml.parseDocument(text, {
    version: '1.1',
    schema: 'failsafe',
    merge: true,
    customTags,
    logLevel: 'error',
  })
  const problem = yamlProblem(text, document, yaml)
  if (problem) throw new Error(problem)
  return document.toJS({ maxAliasCount: 100 })
}

/** The first stage of the parser keeps a stack of its own, so it can tell before the others run out of theirs. */
function refuseExcess(text: string, mostParts: number, { Lexer, Parser }: typeof import('yaml')): void {
  const parser = new Parser()
  let parts = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++parts > mostParts)
      throw new Error(`it has more than ${mostParts} parts; send as much as that in JSON`)
    Array.from(parser.next(lexeme))
    if (parser.stack.length > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} deep`)
  }
}
