import type { Document, Lexer, Node, Pair, YAMLError } from 'yaml'

type Yaml = Pick<
  typeof import('yaml'),
  'isAlias' | 'isCollection' | 'isMap' | 'isScalar' | 'isSeq' | 'visit' | 'Lexer'
>

/**
 * Describe the first problem of a document in plain words: `line 3, column 12: this '[' is never closed`. Undefined if there is
 * none.
 */
export function yamlProblem(text: string, document: Document, yaml: Yaml): string | undefined {
  const error = document.errors[0] ?? document.warnings[0]
  if (!error) return misuse(text, document, yaml)
  // After an unclosed bracket, the parser misreads everything that follows.
  const open = unclosedBracket(text, new yaml.Lexer())
  if (open !== undefined) return `${placeOf(text, open)}: this '${text[open]}' is never closed`
  return `${placeOf(text, error.pos[0])}: ${reasonOf(text, error, document, yaml)}`
}

/**
 * Describe the first alias that repeats nothing or what it is a part of, key that is a list or a map, or `<<` without a map. The
 * library accepts some of these, and reports the others without their place.
 */
function misuse(text: string, document: Document, yaml: Yaml): string | undefined {
  const { isAlias, isCollection, isMap, isScalar, isSeq, visit } = yaml
  const anchors = new Map<string, unknown>()
  const meant = (node: unknown) => (isAlias(node) ? anchors.get(node.source) : node)
  let problem: string | undefined
  const found = ({ range }: Node, reason: string): symbol => {
    problem = `${placeOf(text, range?.[0] ?? 0)}: ${reason}`
    return visit.BREAK
  }
  visit(document, {
    Value(_, node) {
      if (node.anchor) anchors.set(node.anchor, node)
    },
    Alias(_, alias, path) {
      const { source } = alias
      const node = anchors.get(source)
      if (node === undefined) return found(alias, `nothing before *${source} is marked with &${source}`)
      if (path.some((outer) => outer === node))
        return found(alias, `*${source} repeats the value that it is a part of`)
    },
    Pair(_, { key, value }) {
      if (isCollection(meant(key))) return found(key as Node, 'a list or a map cannot be a key')
      if (!isScalar(key) || key.source !== '<<' || key.type !== 'PLAIN') return
      const merged = meant(value)
      const maps = isSeq(merged) ? merged.items.map(meant) : [merged]
      if (!maps.every((map) => isMap(map)))
        return found(key, 'the value of << must be a map or a list of maps')
    },
  })
  return problem
}

/** The lexer's token at a place where a bracket should have been closed. */
const FLOW_END = '\x18'
const OPENING = ['[', '{']
const CLOSING = [']', '}']

function unclosedBracket(text: string, lexer: Lexer): number | undefined {
  const open: number[] = []
  let offset = 0
  for (const lexeme of lexer.lex(text)) {
    if (lexeme === FLOW_END) return open.at(-1)
    if (OPENING.includes(lexeme)) open.push(offset)
    if (CLOSING.includes(lexeme)) open.pop()
    // Control tokens of the lexer are not in the text.
    if (text.startsWith(lexeme, offset)) offset += lexeme.length
  }
  return open.at(-1)
}

function reasonOf(text: string, { code, message, pos }: YAMLError, document: Document, yaml: Yaml): string {
  const [start] = pos
  switch (code) {
    case 'DUPLICATE_KEY':
      return setTwice(text, start, document, yaml)
    case 'TAB_AS_INDENT':
      return 'the line is indented with a tab; use spaces'
    case 'BAD_INDENT':
      return 'the line is not indented like the other lines of its block'
    case 'BAD_SCALAR_START':
      return `a value that begins with ${text[start]} needs quotes`
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return "a value with ': ' in it needs quotes; if it has none, the next line is indented too far"
    case 'MISSING_CHAR':
      return missing(message)
    default:
      return plain(message)
  }
}

function missing(message: string): string {
  if (message.startsWith('Implicit map keys')) return "a ':' is missing after the name of an option"
  const quote = /^Missing closing (['"])/.exec(message)?.[1]
  return quote ? `a text before this place begins with ${quote} but does not end with it` : plain(message)
}

function setTwice(text: string, start: number, document: Document, { isScalar, visit }: Yaml): string {
  const startOf = ({ key }: Pair) => (isScalar(key) ? key.range?.[0] : undefined)
  const nameOf = ({ key }: Pair) => (isScalar(key) ? String(key.value) : undefined)
  let problem = 'a key is set twice'
  visit(document, {
    Map(_, { items }) {
      const second = items.find((pair) => startOf(pair) === start)
      const first = second && items.find((pair) => nameOf(pair) === nameOf(second))
      if (first)
        problem = `'${nameOf(first)}' is set twice, first on line ${lineOf(text, startOf(first) ?? 0)}`
    },
  })
  return problem
}

/** Return the parser's message without place and excerpt. */
const plain = (message: string): string =>
  message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:?$/, '')

const lineOf = (text: string, offset: number): number => text.slice(0, offset).split('\n').length

function placeOf(text: string, offset: number): string {
  return `line ${lineOf(text, offset)}, column ${offset - text.lastIndexOf('\n', offset - 1)}`
}
