import { Tuple } from '../_values/tuple.ts'
import { TemplateError } from './errors.ts'
import type { Evaluator } from './evaluate.ts'
import type { Scope } from './scope.ts'
import type { Parameter, Statement } from './syntax/nodes.ts'
import { type CallArguments, Callable, Undefined } from './values/values.ts'

interface Declared {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly body: readonly Statement[]
}

/** A macro, or the `caller` of a call block. */
export class Macro {
  readonly callable: Callable
  readonly #declared: Declared
  readonly #scope: Scope
  readonly #evaluator: Evaluator
  readonly #takesMore: boolean
  readonly #takesKeywords: boolean
  readonly #takesCaller: boolean

  constructor(
    declared: Declared,
    scope: Scope,
    evaluator: Evaluator,
    run: (scope: Scope) => Promise<string>,
  ) {
    this.#declared = declared
    this.#scope = scope
    this.#evaluator = evaluator
    const { name, parameters, body } = declared
    this.#takesMore = usesName(body, 'varargs')
    this.#takesKeywords = usesName(body, 'kwargs')
    this.#takesCaller = usesName(body, 'caller')
    const names = Tuple.from(parameters.map((parameter) => parameter.name))
    this.callable = new Callable(name, async (given) => run(await this.#bind(given)), {
      name,
      arguments: names,
      catch_varargs: this.#takesMore,
      catch_kwargs: this.#takesKeywords,
      caller: this.#takesCaller,
    })
  }

  async #bind({ args, kwargs }: CallArguments): Promise<Scope> {
    const { name, parameters } = this.#declared
    const scope = this.#scope.inner()
    const rest = new Map(kwargs)
    for (const [at, parameter] of parameters.entries()) {
      const isNamed = rest.has(parameter.name)
      if (isNamed && at < args.length)
        throw new TemplateError(`macro '${name}' got multiple values for argument '${parameter.name}'`)
      scope.set(
        parameter.name,
        isNamed ? rest.get(parameter.name) : await this.#value(parameter, args, at, scope),
      )
      rest.delete(parameter.name)
    }
    const caller = rest.get('caller')
    if (rest.delete('caller') && !this.#takesCaller && !this.#takesKeywords)
      throw new TemplateError(
        `macro '${name}' was invoked with two values for the special caller argument. This is most likely a bug.`,
      )
    scope.set('caller', caller ?? new Undefined('No caller defined'))
    scope.set('varargs', Tuple.from(args.slice(parameters.length)))
    scope.set('kwargs', rest)
    this.#refuseMore(args, rest)
    return scope
  }

  async #value(
    { name, fallback }: Parameter,
    args: readonly unknown[],
    at: number,
    scope: Scope,
  ): Promise<unknown> {
    if (at < args.length) return args[at]
    if (fallback) return this.#evaluator.evaluate(fallback, scope)
    return new Undefined(`parameter '${name}' was not provided`)
  }

  /** Macros take more arguments than they declare only if they use `varargs` or `kwargs`. */
  #refuseMore(args: readonly unknown[], rest: ReadonlyMap<string, unknown>): void {
    const { name, parameters } = this.#declared
    const [unknown] = rest.keys()
    if (unknown !== undefined && !this.#takesKeywords)
      throw new TemplateError(`macro '${name}' takes no keyword argument '${unknown}'`)
    if (args.length > parameters.length && !this.#takesMore)
      throw new TemplateError(`macro '${name}' takes not more than ${parameters.length} argument(s)`)
  }
}

/** Whether a name is used somewhere in a tree. */
function usesName(node: unknown, name: string): boolean {
  if (typeof node !== 'object' || node === null) return false
  if ('type' in node && node.type === 'name' && 'name' in node && node.name === name) return true
  return Object.values(node).some((inner) => usesName(inner, name))
}
