/** Evaluates expressions. */
import { Tuple } from '../_values/tuple.ts'
import type { Environment } from './environment.ts'
import { TemplateError, TemplateSyntaxError } from './errors.ts'
import type { Scope } from './scope.ts'
import type { Arguments, ComparisonOperator, Expression, ExpressionOf } from './syntax/nodes.ts'
import { binary, signed } from './values/arithmetic.ts'
import { compare, contains } from './values/compare.ts'
import { isEqual, setKey } from './values/dicts.ts'
import { attribute, item, slice } from './values/lookup.ts'
import { pairs } from './values/methods.ts'
import { Callable, type Given, HostObject, typeOf, Undefined } from './values/objects.ts'
import { extend, isTrue } from './values/sequences.ts'
import { text } from './values/text.ts'

/** Evaluates expressions in a scope. */
export class Evaluator {
  readonly #environment: Environment

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** `input` is what the filters of a block get. @throws TemplateError */
  async evaluate(node: Expression, scope: Scope, input?: unknown): Promise<unknown> {
    switch (node.type) {
      case 'constant':
        return node.value
      case 'name':
        return this.#lenient(this.#name(node.name, scope))
      case 'list':
        return this.all(node.items, scope)
      case 'tuple':
        return Tuple.from(await this.all(node.items, scope))
      case 'dict':
        return this.#dict(node, scope)
      case 'getattr':
        return this.#lenient(await attribute(await this.evaluate(node.of, scope), node.name))
      case 'getitem':
        return this.#lenient(
          await item(await this.evaluate(node.of, scope), await this.evaluate(node.key, scope)),
        )
      case 'slice':
        return this.#slice(node, scope)
      case 'call':
        return this.call(await this.evaluate(node.of, scope), await this.given(node.given, scope))
      case 'filter':
        return this.#filter(node, scope, input)
      case 'test':
        return this.#test(node, scope)
      case 'unary':
        return this.#unary(node, scope)
      case 'binary':
        return binary(
          node.operator,
          await this.evaluate(node.left, scope),
          await this.evaluate(node.right, scope),
        )
      case 'and':
      case 'or': {
        const left = await this.evaluate(node.left, scope)
        return isTrue(left) === (node.type === 'and') ? this.evaluate(node.right, scope) : left
      }
      case 'compare':
        return this.#compare(node, scope)
      case 'conditional':
        return this.#conditional(node, scope)
    }
  }

  /** Evaluate expressions one after the other, from left to right. */
  async all(nodes: readonly Expression[], scope: Scope): Promise<unknown[]> {
    const values: unknown[] = []
    for (const node of nodes) values.push(await this.evaluate(node, scope))
    return values
  }

  async isTrue(node: Expression, scope: Scope): Promise<boolean> {
    return isTrue(await this.evaluate(node, scope))
  }

  /** Call a function. @throws TemplateError if it is none */
  call(value: unknown, given: Given): unknown {
    this.#environment.signal.throwIfAborted()
    if (value instanceof Undefined) return value.use()
    if (value instanceof Callable) return value.call(given)
    if (value instanceof HostObject && value.parts.invoke)
      return value.parts.invoke({ ...given, name: value.parts.typeName })
    throw new TemplateError(`'${typeOf(value)}' object is not callable`)
  }

  /** Evaluate the arguments of a call. */
  async given({ positional, keywords, list, map }: Arguments, scope: Scope): Promise<Given> {
    const args = await this.all(positional, scope)
    if (list) extend(args, await this.evaluate(list, scope))
    const kwargs = new Map<string, unknown>()
    for (const [name, value] of keywords) kwargs.set(name, await this.evaluate(value, scope))
    if (map) for (const [name, value] of pairs(await this.evaluate(map, scope))) kwargs.set(text(name), value)
    return { args, kwargs }
  }

  #name(name: string, scope: Scope): unknown {
    const value = scope.get(name)
    return value === undefined ? new Undefined(`'${name}' is undefined`) : value
  }

  #lenient(value: unknown): unknown {
    const isAllowed = this.#environment.allowsUndefined && value instanceof Undefined
    return isAllowed ? new Undefined(value.message, true) : value
  }

  async #dict({ pairs: nodes }: ExpressionOf<'dict'>, scope: Scope): Promise<unknown> {
    const map = new Map<unknown, unknown>()
    for (const [key, value] of nodes)
      setKey(map, await this.evaluate(key, scope), await this.evaluate(value, scope))
    return map
  }

  async #slice({ of, bounds }: ExpressionOf<'slice'>, scope: Scope): Promise<unknown> {
    const value = await this.evaluate(of, scope)
    const values: unknown[] = []
    for (const bound of bounds) values.push(bound && (await this.evaluate(bound, scope)))
    return slice(value, values)
  }

  async #filter({ of, name, given }: ExpressionOf<'filter'>, scope: Scope, input: unknown): Promise<unknown> {
    const filter = this.#environment.filters.get(name)
    if (!filter) throw new TemplateSyntaxError(`No filter named '${name}'.`)
    const value = of ? await this.evaluate(of, scope, input) : input
    const args = await this.given(given, scope)
    return filter(value, { ...args, name }, this.#environment)
  }

  async #test({ of, name, given }: ExpressionOf<'test'>, scope: Scope): Promise<boolean> {
    const test = this.#environment.tests.get(name)
    if (!test) throw new TemplateSyntaxError(`No test named '${name}'.`)
    const value = await this.evaluate(of, scope)
    const args = await this.given(given, scope)
    return test(value, { ...args, name }, this.#environment)
  }

  async #unary({ operator, of }: ExpressionOf<'unary'>, scope: Scope): Promise<unknown> {
    const value = await this.evaluate(of, scope)
    return operator === 'not' ? !isTrue(value) : signed(operator, value)
  }

  /** `a < b < c` compares each with the next one. */
  async #compare({ first, others }: ExpressionOf<'compare'>, scope: Scope): Promise<boolean> {
    let left = await this.evaluate(first, scope)
    for (const { operator, with: other } of others) {
      const right = await this.evaluate(other, scope)
      if (!(await holds(operator, left, right))) return false
      left = right
    }
    return true
  }

  async #conditional(
    { test, then, else: otherwise }: ExpressionOf<'conditional'>,
    scope: Scope,
  ): Promise<unknown> {
    if (await this.isTrue(test, scope)) return this.evaluate(then, scope)
    if (otherwise) return this.evaluate(otherwise, scope)
    return new Undefined('the inline if-expression evaluated to false and no else section was defined.', true)
  }
}

async function holds(operator: ComparisonOperator, left: unknown, right: unknown): Promise<boolean> {
  switch (operator) {
    case '==':
      return isEqual(left, right)
    case '!=':
      return !isEqual(left, right)
    case 'in':
      return contains(right, left)
    case 'not in':
      return !(await contains(right, left))
    case '<':
      return compare(left, right, operator) < 0
    case '<=':
      return compare(left, right, operator) <= 0
    case '>':
      return compare(left, right, operator) > 0
    case '>=':
      return compare(left, right, operator) >= 0
  }
}
