import { TemplateError } from '../errors.ts'
import type { CallArguments } from './objects.ts'

/** A method of values of a type. */
export type Method<T> = (value: T, given: CallArguments) => unknown

/** Marks a parameter that must be given. */
export const REQUIRED: unique symbol = Symbol('required')

/** Bind arguments to parameters: names in their order, with the values of those that are not given. @throws TemplateError */
export function bind<N extends string>(
  parameters: Readonly<Record<N, unknown>>,
  { name, args, kwargs }: CallArguments,
): Record<N, unknown> {
  const names = Object.keys(parameters) as N[]
  if (args.length > names.length)
    throw new TemplateError(`${name}() takes at most ${names.length} arguments (${args.length} given)`)
  for (const key of kwargs.keys())
    if (!names.includes(key as N))
      throw new TemplateError(`${name}() got an unexpected keyword argument '${key}'`)
  const bound = names.map((key, at) => {
    if (at < args.length && kwargs.has(key))
      throw new TemplateError(`${name}() got multiple values for argument '${key}'`)
    const value = at < args.length ? args[at] : kwargs.has(key) ? kwargs.get(key) : parameters[key]
    if (value === REQUIRED) throw new TemplateError(`${name}() missing required argument: '${key}'`)
    return [key, value] as const
  })
  return Object.fromEntries(bound) as Record<N, unknown>
}

/** Make a filter, test or method that takes no arguments. */
export const withoutArguments =
  <T, R>(run: (value: T) => R) =>
  (value: T, given: CallArguments): R => {
    bind({}, given)
    return run(value)
  }
