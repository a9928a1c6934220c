/** Values as texts, and as functions of Salt take them. */
import { pythonText } from '../../_values/python.ts'
import { isMapping, type Mapping } from '../../_values/traverse.ts'
import { TemplateError } from '../errors.ts'
import { entries } from './dicts.ts'
import { Callable, HostObject, typeOf, Undefined, View } from './objects.ts'

/** Format a value as Python's `str` does. */
export function text(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Undefined) return value.isAllowed ? '' : value.use()
  if (isMapping(value)) checkValues(value)
  return pythonText(value)
}

/** A value that must be a text. @throws TemplateError */
export function strictText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value instanceof Undefined) return value.use()
  throw new TemplateError(`expected str instance, ${typeOf(value)} found`)
}

/** A map is shown only if its values are defined. @throws UndefinedError */
function checkValues(map: Mapping): void {
  for (const [, value] of entries(map)) {
    if (value instanceof Undefined && !value.isAllowed) value.use()
    if (isMapping(value)) checkValues(value)
  }
}

/** A value as functions of Salt take it: tuples are lists, and maps whose keys are texts are plain objects. */
export function plain(value: unknown): unknown {
  if (value instanceof Undefined) return value.use()
  if (Array.isArray(value)) return Array.from(value, plain)
  if (value instanceof View) return value.items.map(plain)
  if (!isMapping(value)) return value instanceof HostObject || value instanceof Callable ? text(value) : value
  const pairs = entries(value).map(([key, inner]) => [key, plain(inner)] as const)
  const isRecord = pairs.every(([key]) => typeof key === 'string' && !/^\d+$/.test(key))
  return isRecord ? Object.fromEntries(pairs) : new Map(pairs)
}
