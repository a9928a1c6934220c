import { Tuple } from '../_values/tuple.ts'
import { TemplateError } from './errors.ts'
import type { Evaluator } from './evaluate.ts'
import type { Scope } from './scope.ts'
import type { Parameter, Taken } from './syntax/nodes.ts'
import { Callable, type Given, Undefined } from './values/objects.ts'

interface Declared {
  readonly name: string
  readonly parameters: readonly Parameter[]
  readonly takes: Taken
}

/** Make the function of a macro, or the `caller` of a call block. */
export function macroOf(
  declared: Declared,
  scope: Scope,
  evaluator: Evaluator,
  run: (scope: Scope) => Promise<string>,
): Callable {
  const { name, parameters, takes } = declared
  const members = {
    name,
    arguments: Tuple.from(parameters.map((parameter) => parameter.name)),
    catch_varargs: takes.varargs,
    catch_kwargs: takes.kwargs,
    caller: takes.caller,
  }
  return new Callable(name, async (given) => run(await bound(declared, given, scope.inner(), evaluator)), {
    members,
    text: `<Macro '${name}'>`,
  })
}

/** Set the parameters of a macro in its scope. */
async function bound(
  { name, parameters, takes }: Declared,
  { args, kwargs }: Given,
  scope: Scope,
  evaluator: Evaluator,
): Promise<Scope> {
  const rest = new Map(kwargs)
  for (const [at, parameter] of parameters.entries()) {
    const isNamed = rest.has(parameter.name)
    if (isNamed && at < args.length)
      throw new TemplateError(`macro '${name}' got multiple values for argument '${parameter.name}'`)
    const usual = () =>
      parameter.fallback
        ? evaluator.evaluate(parameter.fallback, scope)
        : new Undefined(`parameter '${parameter.name}' was not provided`)
    const value = at < args.length ? args[at] : isNamed ? rest.get(parameter.name) : await usual()
    scope.set(parameter.name, value)
    rest.delete(parameter.name)
  }
  if (takes.caller) {
    scope.set('caller', rest.get('caller') ?? new Undefined('No caller defined'))
    rest.delete('caller')
  }
  if (takes.kwargs) scope.set('kwargs', rest)
  else refuseKeywords(name, rest)
  if (takes.varargs) scope.set('varargs', Tuple.from(args.slice(parameters.length)))
  else if (args.length > parameters.length)
    throw new TemplateError(`macro '${name}' takes not more than ${parameters.length} argument(s)`)
  return scope
}

function refuseKeywords(name: string, kwargs: ReadonlyMap<string, unknown>): void {
  if (kwargs.has('caller'))
    throw new TemplateError(
      `macro '${name}' was invoked with two values for the special caller argument. This is most likely a bug.`,
    )
  const [unknown] = kwargs.keys()
  if (unknown !== undefined) throw new TemplateError(`macro '${name}' takes no keyword argument '${unknown}'`)
}
