/** Reads expressions, with the precedences of Jinja. */
import { numberFrom } from '../values/read-number.ts'
import type { Arguments, BinaryOperator, Comparison, ComparisonOperator, Expression } from './nodes.ts'
import { labelOf, type TokenStream } from './token-stream.ts'

const comparisons: readonly ComparisonOperator[] = ['==', '!=', '<', '<=', '>', '>=']
/** The names of values, which nothing can be assigned to. */
export const literals: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
}

const NO_ARGUMENTS: Arguments = { positional: [], keywords: [] }

/** Read an expression; several with commas between are a tuple. */
export function readTuple(tokens: TokenStream, { withCondition = true } = {}): Expression {
  if (endsExpression(tokens)) throw tokens.wrong(`Expected an expression, got '${labelOf(tokens.current)}'`)
  const read = () => (withCondition ? readExpression(tokens) : readOr(tokens))
  const first = read()
  if (!tokens.isOperator(',')) return first
  const items = [first]
  while (tokens.skip('operator', ',') && !endsTuple(tokens)) items.push(read())
  return { type: 'tuple', items }
}

const endsExpression = (tokens: TokenStream): boolean =>
  tokens.isNext('variable end') || tokens.isNext('block end') || tokens.isOperator(')')

const endsTuple = (tokens: TokenStream): boolean =>
  endsExpression(tokens) || tokens.isOperator('=') || tokens.isName('in', 'if', 'recursive')

/** @throws TemplateSyntaxError */
export function readExpression(tokens: TokenStream): Expression {
  return tokens.nested(() => readConditional(tokens))
}

function readConditional(tokens: TokenStream): Expression {
  let then = readOr(tokens)
  while (tokens.skip('name', 'if')) {
    const test = readOr(tokens)
    const otherwise = tokens.skip('name', 'else') ? readExpression(tokens) : undefined
    then = { type: 'conditional', test, then, ...(otherwise && { else: otherwise }) }
  }
  return then
}

function readOr(tokens: TokenStream): Expression {
  let left = readAnd(tokens)
  const count = tokens.chain()
  while (tokens.skip('name', 'or')) {
    count()
    left = { type: 'or', left, right: readAnd(tokens) }
  }
  return left
}

function readAnd(tokens: TokenStream): Expression {
  let left = readNot(tokens)
  const count = tokens.chain()
  while (tokens.skip('name', 'and')) {
    count()
    left = { type: 'and', left, right: readNot(tokens) }
  }
  return left
}

function readNot(tokens: TokenStream): Expression {
  if (tokens.skip('name', 'not'))
    return { type: 'unary', operator: 'not', of: tokens.nested(() => readNot(tokens)) }
  return readCompare(tokens)
}

function readCompare(tokens: TokenStream): Expression {
  const first = readSum(tokens)
  const others: Comparison[] = []
  for (;;) {
    const operator = readComparison(tokens)
    if (operator === undefined) break
    others.push({ operator, with: readSum(tokens) })
  }
  return others.length === 0 ? first : { type: 'compare', first, others }
}

function readComparison(tokens: TokenStream): ComparisonOperator | undefined {
  const found = tokens.skipOperator(comparisons)
  if (found !== undefined) return found
  if (tokens.skip('name', 'in')) return 'in'
  if (!tokens.isName('not')) return undefined
  tokens.next()
  tokens.expect('name', 'in')
  return 'not in'
}

/** Read operators of one precedence, from left to right. */
const leftToRight =
  (operators: readonly BinaryOperator[], inner: (tokens: TokenStream) => Expression) =>
  (tokens: TokenStream): Expression => {
    let left = inner(tokens)
    const count = tokens.chain()
    for (;;) {
      count()
      const operator = tokens.skipOperator(operators)
      if (operator === undefined) return left
      left = { type: 'binary', operator, left, right: inner(tokens) }
    }
  }

const readPower = leftToRight(['**'], (tokens) => readUnary(tokens))
const readProduct = leftToRight(['*', '/', '//', '%'], readPower)
const readConcat = leftToRight(['~'], readProduct)
const readSum = leftToRight(['+', '-'], readConcat)

function readUnary(tokens: TokenStream, { withFilters = true } = {}): Expression {
  const { kind, value } = tokens.current
  let expression: Expression
  if (kind === 'operator' && (value === '-' || value === '+')) {
    tokens.next()
    expression = {
      type: 'unary',
      operator: value,
      of: tokens.nested(() => readUnary(tokens, { withFilters: false })),
    }
  } else expression = readPrimary(tokens)
  expression = readPostfix(tokens, expression)
  return withFilters ? readFilters(tokens, expression) : expression
}

function readPrimary(tokens: TokenStream): Expression {
  const token = tokens.current
  if (token.kind === 'name') {
    tokens.next()
    if (Object.hasOwn(literals, token.value)) return { type: 'constant', value: literals[token.value] }
    return { type: 'name', name: token.value }
  }
  if (token.kind === 'string') return { type: 'constant', value: readStrings(tokens) }
  if (token.kind === 'number') {
    tokens.next()
    return { type: 'constant', value: numberFrom(token.value, token.isFloat) }
  }
  if (tokens.skip('operator', '(')) return readParentheses(tokens)
  if (tokens.skip('operator', '[')) return { type: 'list', items: readItems(tokens, ']') }
  if (tokens.skip('operator', '{')) return readDict(tokens)
  throw tokens.wrong(`unexpected '${labelOf(token)}'`)
}

/** Strings one after the other are one. */
function readStrings(tokens: TokenStream): string {
  let text = ''
  while (tokens.isNext('string')) text += tokens.next().value
  return text
}

function readParentheses(tokens: TokenStream): Expression {
  if (tokens.skip('operator', ')')) return { type: 'tuple', items: [] }
  const expression = readTuple(tokens)
  tokens.expect('operator', ')')
  return expression
}

function readItems(tokens: TokenStream, end: string): Expression[] {
  const items: Expression[] = []
  while (!tokens.skip('operator', end)) {
    if (items.length > 0) {
      tokens.expect('operator', ',')
      if (tokens.skip('operator', end)) break
    }
    items.push(readExpression(tokens))
  }
  return items
}

function readDict(tokens: TokenStream): Expression {
  const pairs: [Expression, Expression][] = []
  while (!tokens.skip('operator', '}')) {
    if (pairs.length > 0) {
      tokens.expect('operator', ',')
      if (tokens.skip('operator', '}')) break
    }
    const key = readExpression(tokens)
    tokens.expect('operator', ':')
    pairs.push([key, readExpression(tokens)])
  }
  return { type: 'dict', pairs }
}

function readPostfix(tokens: TokenStream, start: Expression): Expression {
  let expression = start
  const count = tokens.chain()
  for (;;) {
    count()
    if (tokens.skip('operator', '.')) expression = readMember(tokens, expression)
    else if (tokens.skip('operator', '[')) expression = readSubscript(tokens, expression)
    else if (tokens.isOperator('('))
      expression = { type: 'call', of: expression, given: readArguments(tokens) }
    else return expression
  }
}

function readMember(tokens: TokenStream, of: Expression): Expression {
  const token = tokens.next()
  if (token.kind === 'name') return { type: 'getattr', of, name: token.value }
  if (token.kind !== 'number' || token.isFloat) throw tokens.wrong('expected name or number', token.line)
  return { type: 'getitem', of, key: { type: 'constant', value: Number(token.value) } }
}

function readSubscript(tokens: TokenStream, of: Expression): Expression {
  const keys: Expression[] = []
  do {
    const bounds = readBounds(tokens)
    if (bounds.length > 1) {
      tokens.expect('operator', ']')
      return { type: 'slice', of, bounds }
    }
    keys.push(bounds[0] as Expression)
  } while (tokens.skip('operator', ','))
  tokens.expect('operator', ']')
  return {
    type: 'getitem',
    of,
    key: keys.length === 1 ? (keys[0] as Expression) : { type: 'tuple', items: keys },
  }
}

/** One key, or two or three bounds of a slice, each of which may be left out. */
function readBounds(tokens: TokenStream): (Expression | undefined)[] {
  const isLeftOut = () => tokens.isOperator(':') || tokens.isOperator(']')
  const bounds: (Expression | undefined)[] = [tokens.isOperator(':') ? undefined : readExpression(tokens)]
  while (bounds.length < 3 && tokens.skip('operator', ':'))
    bounds.push(isLeftOut() ? undefined : readExpression(tokens))
  return bounds
}

function readArguments(tokens: TokenStream): Arguments {
  tokens.expect('operator', '(')
  const positional: Expression[] = []
  const keywords: [string, Expression][] = []
  let list: Expression | undefined
  let map: Expression | undefined
  let isFirst = true
  while (!tokens.skip('operator', ')')) {
    if (!isFirst) {
      tokens.expect('operator', ',')
      if (tokens.skip('operator', ')')) break
    }
    isFirst = false
    const { line } = tokens
    const isNamed = keywords.length > 0
    if (map || (list && tokens.isOperator('*'))) throw tokens.wrong(INVALID_CALL, line)
    if (tokens.skip('operator', '*')) list = readExpression(tokens)
    else if (tokens.skip('operator', '**')) map = readExpression(tokens)
    else if (readArgument(tokens, positional, keywords) === 'positional' && (isNamed || list))
      throw tokens.wrong(INVALID_CALL, line)
  }
  return { positional, keywords, ...(list && { list }), ...(map && { map }) }
}

const INVALID_CALL = 'invalid syntax for function call expression'

function readArgument(
  tokens: TokenStream,
  positional: Expression[],
  keywords: [string, Expression][],
): 'positional' | 'keyword' {
  const value = readExpression(tokens)
  if (value.type !== 'name' || !tokens.skip('operator', '=')) {
    positional.push(value)
    return 'positional'
  }
  keywords.push([value.name, readExpression(tokens)])
  return 'keyword'
}

/** Read filters and tests behind an expression, and calls of what they give. */
function readFilters(tokens: TokenStream, start: Expression): Expression {
  let expression = start
  const count = tokens.chain()
  for (;;) {
    count()
    if (tokens.isOperator('|')) expression = readFilter(tokens, expression)
    else if (tokens.isName('is')) expression = readTest(tokens, expression)
    else if (tokens.isOperator('('))
      expression = { type: 'call', of: expression, given: readArguments(tokens) }
    else return expression
  }
}

function readFilter(tokens: TokenStream, of: Expression | undefined): Expression {
  if (of) tokens.expect('operator', '|')
  const name = readDottedName(tokens)
  const given = tokens.isOperator('(') ? readArguments(tokens) : NO_ARGUMENTS
  return { type: 'filter', name, given, ...(of && { of }) }
}

/** Read the filters of a block: `upper | indent(2)`. */
export function readBlockFilters(tokens: TokenStream): Expression {
  let filters = readFilter(tokens, undefined)
  while (tokens.isOperator('|')) filters = readFilter(tokens, filters)
  return filters
}

function readDottedName(tokens: TokenStream): string {
  let name = tokens.name()
  while (tokens.skip('operator', '.')) name += `.${tokens.name()}`
  return name
}

function readTest(tokens: TokenStream, of: Expression): Expression {
  tokens.expect('name', 'is')
  const isNegated = tokens.skip('name', 'not')
  const name = readDottedName(tokens)
  const test: Expression = { type: 'test', of, name, given: readTestArguments(tokens) }
  return isNegated ? { type: 'unary', operator: 'not', of: test } : test
}

/** A test may take one argument without parentheses: `is divisibleby 3`. */
function readTestArguments(tokens: TokenStream): Arguments {
  if (tokens.isOperator('(')) return readArguments(tokens)
  const { kind } = tokens.current
  if (tokens.isName('is')) throw tokens.wrong('You cannot chain multiple tests with is')
  const isValue = kind === 'string' || kind === 'number' || tokens.isOperator('[') || tokens.isOperator('{')
  const isOther = kind === 'name' && !tokens.isName('else', 'or', 'and', 'not', 'if', 'in')
  if (!isValue && !isOther) return NO_ARGUMENTS
  return { positional: [readPostfix(tokens, readPrimary(tokens))], keywords: [] }
}
