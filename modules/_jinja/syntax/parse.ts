/** Reads templates. Statements are those of Jinja with its extensions `do` and loop controls, and those that Salt adds. */
import { TemplateSyntaxError } from '../errors.ts'
import { literals, readBlockFilters, readExpression, readTuple } from './expressions.ts'
import { tokenize, type WhiteSpace } from './lexer.ts'
import type { Expression, Format, Parameter, Statement, Target, Template } from './nodes.ts'
import { takenBy } from './taken.ts'
import { labelOf, TOO_DEEP, TokenStream } from './token-stream.ts'

/** @throws TemplateSyntaxError */
export function parse(text: string, whiteSpace: WhiteSpace, name?: string): Template {
  try {
    return { name, ...partsOf(new TokenStream(tokenize(text, whiteSpace))) }
  } catch (error) {
    if (error instanceof TemplateSyntaxError) error.template = name
    throw error
  }
}

function partsOf(tokens: TokenStream): Omit<Template, 'name'> {
  const parser = new Parser(tokens)
  try {
    return { body: parser.readTemplate(), blocks: parser.blocks }
  } catch (error) {
    throw error instanceof RangeError ? tokens.wrong(TOO_DEEP) : error
  }
}

class Parser {
  readonly blocks = new Map<string, readonly Statement[]>()
  readonly #tokens: TokenStream
  /** The ends that the open tags wait for, for messages. */
  readonly #open: { readonly tag: string; readonly ends: readonly string[] }[] = []

  constructor(tokens: TokenStream) {
    this.#tokens = tokens
  }

  readTemplate(): Statement[] {
    const body = this.#readUntil([])
    this.#tokens.expect('end')
    return body
  }

  /** Read statements up to a tag of these names, which stays; without names up to the end. */
  #readUntil(ends: readonly string[]): Statement[] {
    const tokens = this.#tokens
    const body: Statement[] = []
    for (;;) {
      const { line } = tokens
      if (tokens.isNext('data')) body.push({ type: 'data', text: tokens.next().value, line })
      else if (tokens.skip('variable begin')) {
        const { line: start } = tokens
        body.push({ type: 'print', value: readTuple(tokens), line: start })
        tokens.expect('variable end')
      } else if (tokens.skip('block begin')) {
        if (ends.length > 0 && tokens.isName(...ends)) return body
        const statement = this.#readStatement(line)
        if (statement) body.push(statement)
        tokens.expect('block end')
      } else if (ends.length > 0) throw this.#unexpectedEnd()
      else return body
    }
  }

  /** Read a body, its end tag, and nothing behind that. */
  #readBody(tag: string, end = `end${tag}`): Statement[] {
    this.#tokens.expect('block end')
    const body = this.#readInside(tag, [end])
    this.#tokens.next()
    return body
  }

  #readInside(tag: string, ends: readonly string[]): Statement[] {
    this.#open.push({ tag, ends })
    const body = this.#readUntil(ends)
    this.#open.pop()
    return body
  }

  #unexpectedEnd(): TemplateSyntaxError {
    return this.#tokens.wrong(`Unexpected end of template. ${this.#lookingFor()}`)
  }

  /** What the innermost tag that is open waits for. */
  #lookingFor(isExpectedOutside = false): string {
    const { tag, ends } = this.#open.at(-1) as { tag: string; ends: readonly string[] }
    const names = ends.map((end) => `'${end}'`).join(' or ')
    const why = isExpectedOutside
      ? `You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for ${names}.`
      : `Jinja was looking for the following tags: ${names}.`
    return `${why} The innermost block that needs to be closed is '${tag}'.`
  }

  #readStatement(line: number): Statement | undefined {
    const tokens = this.#tokens
    const name = tokens.isNext('name') ? tokens.next().value : ''
    switch (name) {
      case 'for':
        return this.#readFor(line)
      case 'if':
        return this.#readIf(line)
      case 'set':
        return this.#readSet(line)
      case 'with':
        return this.#readWith(line)
      case 'macro': {
        const macro = tokens.name()
        const parameters = this.#readParameters()
        const body = this.#readBody('macro')
        return { type: 'macro', name: macro, parameters, takes: takenBy(parameters, body), body, line }
      }
      case 'call':
        return this.#readCall(line)
      case 'filter':
        return {
          type: 'filter block',
          filters: readBlockFilters(tokens),
          body: this.#readBody('filter'),
          line,
        }
      case 'do':
        return { type: 'do', value: readTuple(tokens), line }
      case 'break':
      case 'continue':
        if (!this.#isInLoop()) throw tokens.wrong(`'${name}' outside loop`, line)
        return { type: name, line }
      case 'block':
        return this.#readBlock(line)
      case 'extends':
        return { type: 'extends', template: readExpression(tokens), line }
      case 'include':
        return this.#readInclude(line)
      case 'import':
        return this.#readImport(line)
      case 'from':
        return this.#readFrom(line)
      case 'autoescape':
        readExpression(tokens)
        return { type: 'body', body: this.#readBody('autoescape'), line }
      case 'profile':
        tokens.expect('name', 'as')
        readExpression(tokens)
        return { type: 'body', body: this.#readBody('profile'), line }
    }
    return this.#readData(name, line)
  }

  /** Whether a loop is around, inside the macro or block that is open. */
  #isInLoop(): boolean {
    const around = this.#open.findLast(({ tag }) => ['for', 'macro', 'call', 'block'].includes(tag))
    return around?.tag === 'for'
  }

  /** The tags that Salt adds for data. */
  #readData(tag: string, line: number): Statement {
    const tokens = this.#tokens
    const [, verb, format] = /^(load|import)_(yaml|json|text)$/.exec(tag) ?? []
    if (verb === undefined) throw this.#unknownTag(tag, line)
    const how = { format: format as Format, line }
    if (verb === 'import') {
      const template = readExpression(tokens)
      tokens.expect('name', 'as')
      return { type: 'import data', template, name: tokens.name(), ...how }
    }
    tokens.expect('name', 'as')
    return { type: 'load', name: tokens.name(), body: this.#readBody(tag, 'endload'), ...how }
  }

  #unknownTag(tag: string, line: number): TemplateSyntaxError {
    if (tag === '') return this.#tokens.wrong('tag name expected', line)
    const unknown = `Encountered unknown tag '${tag}'.`
    if (this.#open.length === 0) return this.#tokens.wrong(unknown, line)
    const isExpectedOutside = this.#open.some(({ ends }) => ends.includes(tag))
    return this.#tokens.wrong(`${unknown} ${this.#lookingFor(isExpectedOutside)}`, line)
  }

  #readFor(line: number): Statement {
    const tokens = this.#tokens
    const target = this.#readTarget()
    tokens.expect('name', 'in')
    const over = readTuple(tokens, { withCondition: false })
    const condition = tokens.skip('name', 'if') ? readExpression(tokens) : undefined
    const isRecursive = tokens.skip('name', 'recursive')
    tokens.expect('block end')
    const body = this.#readInside('for', ['endfor', 'else'])
    const otherwise = tokens.next().value === 'else' ? this.#readBody('for') : []
    return { type: 'for', target, over, isRecursive, body, otherwise, line, ...(condition && { condition }) }
  }

  #readIf(line: number): Statement {
    const tokens = this.#tokens
    const branches: { test: Expression; body: Statement[] }[] = []
    let otherwise: Statement[] = []
    for (let word = 'if'; word !== 'endif'; ) {
      if (word === 'else') {
        otherwise = this.#readBody('if')
        break
      }
      const test = readTuple(tokens)
      tokens.expect('block end')
      branches.push({ test, body: this.#readInside('if', ['elif', 'else', 'endif']) })
      word = tokens.next().value
    }
    return { type: 'if', branches, otherwise, line }
  }

  #readSet(line: number): Statement {
    const tokens = this.#tokens
    if (tokens.isNext('block end'))
      throw tokens.wrong(`Expected an expression, got '${labelOf(tokens.current)}'`)
    const target = this.#readTarget()
    if (tokens.skip('operator', '=')) return { type: 'set', target, value: readTuple(tokens), line }
    const filters = tokens.skip('operator', '|') ? readBlockFilters(tokens) : undefined
    return { type: 'set block', target, filters, body: this.#readBody('set'), line }
  }

  /** One name or several with commas between them, in parentheses or not. */
  #readTarget(): Target {
    const first = this.#readOneTarget()
    if (!this.#tokens.isOperator(',')) return first
    const items = [first]
    while (this.#tokens.skip('operator', ','))
      if (!this.#tokens.isName('in') && !this.#tokens.isOperator('=')) items.push(this.#readOneTarget())
    return { type: 'tuple', items }
  }

  #readOneTarget(): Target {
    const tokens = this.#tokens
    if (tokens.skip('operator', '(')) {
      const target = this.#readTarget()
      tokens.expect('operator', ')')
      return target
    }
    const name = tokens.name()
    if (Object.hasOwn(literals, name)) throw tokens.wrong(`can't assign to '${name}'`)
    return tokens.skip('operator', '.')
      ? { type: 'member', of: name, name: tokens.name() }
      : { type: 'target', name }
  }

  #readWith(line: number): Statement {
    const tokens = this.#tokens
    const values: [Target, Expression][] = []
    while (!tokens.isNext('block end')) {
      if (values.length > 0) tokens.expect('operator', ',')
      const target = this.#readOneTarget()
      tokens.expect('operator', '=')
      values.push([target, readExpression(tokens)])
    }
    return { type: 'with', values, body: this.#readBody('with'), line }
  }

  #readParameters(): Parameter[] {
    const tokens = this.#tokens
    const parameters: Parameter[] = []
    tokens.expect('operator', '(')
    while (!tokens.skip('operator', ')')) {
      if (parameters.length > 0) tokens.expect('operator', ',')
      const name = tokens.name()
      if (parameters.some((parameter) => parameter.name === name))
        throw tokens.wrong(`duplicate argument '${name}' in function definition`)
      if (tokens.skip('operator', '='))
        parameters.push({ type: 'parameter', name, fallback: readExpression(tokens) })
      else if (parameters.at(-1)?.fallback)
        throw tokens.wrong('non-default argument follows default argument')
      else parameters.push({ type: 'parameter', name })
    }
    return parameters
  }

  #readCall(line: number): Statement {
    const tokens = this.#tokens
    const parameters = tokens.isOperator('(') ? this.#readParameters() : []
    const call = readExpression(tokens)
    if (call.type !== 'call') throw tokens.wrong('expected call', line)
    const body = this.#readBody('call')
    return { type: 'call block', call, parameters, takes: takenBy(parameters, body), body, line }
  }

  #readBlock(line: number): Statement {
    const tokens = this.#tokens
    const name = tokens.name()
    let isScoped = false
    if (tokens.isOperator('-'))
      throw tokens.wrong(
        'Block names in Jinja have to be valid Python identifiers and may not contain hyphens, use an underscore instead.',
      )
    while (tokens.isName('scoped', 'required')) isScoped = tokens.next().value === 'scoped' || isScoped
    if (this.blocks.has(name)) throw tokens.wrong(`block '${name}' defined twice`, line)
    this.blocks.set(name, [])
    const body = this.#readBody('block')
    if (tokens.isNext('name', name)) tokens.next()
    this.blocks.set(name, body)
    return { type: 'block', name, isScoped, body, line }
  }

  #readInclude(line: number): Statement {
    const template = readExpression(this.#tokens)
    const isOptional = this.#tokens.isName('ignore')
    if (isOptional) {
      this.#tokens.next()
      this.#tokens.expect('name', 'missing')
    }
    return { type: 'include', template, isOptional, withContext: this.#readWithContext(true), line }
  }

  #readWithContext(byDefault: boolean): boolean {
    const tokens = this.#tokens
    if (!tokens.isName('with', 'without')) return byDefault
    const isWith = tokens.next().value === 'with'
    tokens.expect('name', 'context')
    return isWith
  }

  #readImport(line: number): Statement {
    const template = readExpression(this.#tokens)
    this.#tokens.expect('name', 'as')
    const name = this.#tokens.name()
    return { type: 'import', template, name, withContext: this.#readWithContext(false), line }
  }

  #readFrom(line: number): Statement {
    const tokens = this.#tokens
    const template = readExpression(tokens)
    tokens.expect('name', 'import')
    const names: [string, string][] = []
    while (!tokens.isNext('block end') && !this.#isContext()) {
      if (names.length > 0) tokens.expect('operator', ',')
      if (this.#isContext()) break
      const name = tokens.name()
      if (name.startsWith('_'))
        throw tokens.wrong('names starting with an underline can not be imported', line)
      names.push([name, tokens.skip('name', 'as') ? tokens.name() : name])
    }
    if (names.length === 0) throw tokens.unexpected('name')
    return { type: 'from', template, names, withContext: this.#readWithContext(false), line }
  }

  #isContext(): boolean {
    return this.#tokens.isName('with', 'without')
  }
}
