import type { ScalarTag, Tags } from 'yaml'
import { ESCAPES, YamlWriter } from '../../plugins/outputters/_yaml-writer.ts'

const STEP = 2

/**
 * Write YAML as PyYAML does: in ASCII unless `allow_unicode` is true, sorted unless `sort_keys` is false, with lists and maps
 * without further ones inside in brackets.
 */
export function yamlOf(value: unknown, options: Readonly<Record<string, unknown>>): string {
  const { default_flow_style, indent, sort_keys, allow_unicode } = options
  const inline = default_flow_style === true ? 'all' : default_flow_style === false ? 'none' : 'innermost'
  const step = typeof indent === 'number' && indent > 1 && indent < 10 ? indent : STEP
  return new YamlWriter(step, inline, {
    ascii: allow_unicode !== true,
    sorted: sort_keys !== false,
  }).document(value)
}

const escapes: Readonly<Record<string, string>> = { ...ESCAPES, '\u00a0': '_' }

/** Format a text as PyYAML does between double quotes: all but ASCII is escaped. */
export function doubleQuoted(shown: string): string {
  const inner = shown.replaceAll(/[^ !#-[\]-~]/gu, (each) => {
    const hex = (each.codePointAt(0) as number).toString(16).toUpperCase()
    const letter = escapes[each]
    if (letter !== undefined) return `\\${letter}`
    if (hex.length <= 2) return `\\x${hex.padStart(2, '0')}`
    return hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
  })
  return `"${inner}"`
}

/** Levels of lists and maps, more than a return can have. Much deeper ones end the process, since the parser recurses. */
const MAX_DEPTH = 200

/** Read YAML 1.1 as PyYAML does, but dates as text. */
export async function fromYaml(text: string): Promise<unknown> {
  const { Lexer, Parser, parseDocument } = await import('yaml')
  const parser = new Parser() // the first stage, which does not recurse
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme))
    if (parser.stack.length > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} levels deep`)
  }
  const document = parseDocument(text, {
    version: '1.1',
    customTags: pythonTags,
    uniqueKeys: false,
    logLevel: 'error',
  })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw problem
  return document.toJS()
}

/** What version 1.1 takes for a boolean or a number, and PyYAML for text: `y`, `1e3`, `1.5e3`. */
const text: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^(?:[yYnN]|[-+]?[0-9][0-9_]*(?:[eE][-+]?[0-9]+|\.[0-9_]*[eE][0-9]+))$/,
  resolve: (word) => word,
}

/** Keeps 3.0 a float. */
const float: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?$/,
  resolve: (word) => {
    const value = Number.parseFloat(word.replaceAll('_', ''))
    return Number.isInteger(value) ? new Number(value) : value
  },
}

const isDate = (tag: Tags[number]): boolean =>
  typeof tag !== 'string' && tag.tag === 'tag:yaml.org,2002:timestamp'

const pythonTags = (tags: Tags): Tags => [text, float, ...tags.filter((tag) => !isDate(tag))]
