import type { ScalarTag } from 'yaml'
import { Float } from '../dialect/float.ts'
import { FLOAT, resolvePlain, type ScalarKind, scalarKinds } from './scalar.ts'
import { yamlLibrary } from './yaml-library.ts'
import { yamlProblem } from './yaml-problem.ts'

/**
 * Parse a YAML document as Salt reads its configuration: YAML 1.1 without dates, with no tags but those of the values, no duplicate
 * keys, and a limit on aliases.
 *
 * @throws Error whose message describes the problem and its place
 */
export function parseYaml(text: string): unknown {
  return parseFlat(text) ?? parseAny(text, scalarTags, Number.POSITIVE_INFINITY)
}

/** Parse YAML from an untrusted source that is passed on: 3.0 stays a `Float`, and the number of tokens is limited. */
export const parseYamlValue = (text: string): unknown => parseAny(text, keepingFloats, MAX_PARTS)

const blank = /^[ ]*(?:#.*)?$/
const entry = /^([A-Za-z_]\w*):(?:[ ]+([A-Za-z0-9/][\w./-]*)?)?(?:[ ]+#.*|[ ]*)$/

/**
 * Parse lines of `key: word`, which most configuration files consist of, without loading the parser: that costs more than everything
 * else in a short command. Undefined for any text that may be something else.
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

/** Deeper than any real configuration, and shallow enough for recursive code. */
const MAX_DEPTH = 100
/** Maximum number of tokens. The parser is a hundred times as slow as one for JSON, and in maps slower with every key. */
const MAX_PARTS = 10_000

function parseAny(text: string, customTags: ScalarTag[], mostParts: number): unknown {
  const yaml = yamlLibrary()
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

/** Throw for too many tokens or too deep nesting. The first stage of the parser does not recurse, so it detects that in time. */
function refuseExcess(text: string, mostParts: number, { Lexer, Parser }: typeof import('yaml')): void {
  const parser = new Parser()
  let parts = 0
  for (const lexeme of new Lexer().lex(text)) {
    if (++parts > mostParts)
      throw new Error(`it has more than ${mostParts} tokens. Use JSON for that much data`)
    Array.from(parser.next(lexeme))
    if (parser.stack.length > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} levels deep`)
  }
}
