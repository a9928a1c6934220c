/** Attributes, elements and slices of values. */
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import { getKey, hasKey } from './dicts.ts'
import { methodOf } from './methods.ts'
import { integer } from './numbers.ts'
import { Callable, Group, HostObject, Range, typeOf, Undefined } from './objects.ts'
import { elementOf, elements } from './sequences.ts'
import { text } from './text.ts'

/** `value.name`: a method, or else an element. */
export function attribute(value: unknown, name: string): unknown {
  const own = member(value, name)
  if (own !== undefined) return own
  const method = methodOf(value, name)
  if (method) return method
  return isMapping(value) && hasKey(value, name) ? getKey(value, name) : missing(value, name)
}

/** The filter `attr`: a member or method, and never an element. */
export const ownAttribute = (value: unknown, name: string): unknown =>
  member(value, name) ?? methodOf(value, name) ?? missing(value, name)

/** `value[key]`: an element, or else a method. */
export function item(value: unknown, key: unknown): unknown {
  if (value instanceof Undefined) return value.use()
  if (key instanceof Undefined) return key.use()
  const name = typeof key === 'string' ? key : undefined
  const own = name === undefined ? undefined : member(value, name)
  if (own !== undefined) return own
  const element = elementOf(value, key)
  if (element !== undefined) return element
  return (name === undefined ? undefined : methodOf(value, name)) ?? missing(value, key)
}

/** Return a member that an object of the engine has by itself. @throws UndefinedError if the value is undefined */
function member(value: unknown, name: string): unknown {
  if (value instanceof Undefined) return value.use()
  if (value instanceof HostObject) return value.parts.member(name)
  if (value instanceof Group && (name === 'grouper' || name === 'list')) return value[name]
  if (value instanceof Callable && Object.hasOwn(value.members, name)) return value.members[name]
  return undefined
}

function missing(value: unknown, key: unknown): Undefined {
  const object = value === null ? 'None' : `${typeOf(value)} object`
  return new Undefined(
    typeof key === 'string'
      ? `'${object}' has no attribute '${key}'`
      : `${object} has no element ${text(key)}`,
  )
}

/** `value[start:stop:step]`. @throws TemplateError */
export function slice(value: unknown, bounds: readonly unknown[]): unknown {
  if (value instanceof Undefined) return value.use()
  if (value instanceof Range) return slice(value.items, bounds)
  if (!Array.isArray(value) && typeof value !== 'string' && !(value instanceof Uint8Array))
    throw new TemplateError(`'${typeOf(value)}' object is not subscriptable`)
  const all = elements(value)
  const [start, stop, step = 1] = bounds.map((bound) =>
    bound === undefined || bound === null ? undefined : integer(bound),
  )
  if (step === 0) throw new TemplateError('slice step cannot be zero')
  const chosen: unknown[] = []
  const [first, end] = step > 0 ? [0, all.length] : [all.length - 1, -1]
  const from = start === undefined ? first : clamped(start, all.length, step)
  const to = stop === undefined ? end : clamped(stop, all.length, step)
  for (let at = from; step > 0 ? at < to : at > to; at += step) chosen.push(all[at])
  if (typeof value === 'string') return chosen.join('')
  if (value instanceof Uint8Array) return Uint8Array.from(chosen as number[])
  return value instanceof Tuple ? Tuple.from(chosen) : chosen
}

function clamped(bound: number, length: number, step: number): number {
  const at = bound < 0 ? bound + length : bound
  return step > 0 ? Math.min(Math.max(at, 0), length) : Math.min(Math.max(at, -1), length - 1)
}
