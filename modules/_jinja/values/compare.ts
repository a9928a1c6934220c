/** The order of values, and what contains what. */
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import type { ComparisonOperator } from '../syntax/nodes.ts'
import { hasKey, isEqual } from './dicts.ts'
import { isNumber } from './numbers.ts'
import { HostObject, typeOf, Undefined, View } from './objects.ts'
import { text } from './text.ts'

type OrderOperator = Exclude<ComparisonOperator, '==' | '!=' | 'in' | 'not in'>

/** Negative, zero or positive. @throws TemplateError if the values have no order. */
export function compare(a: unknown, b: unknown, operator: OrderOperator = '<'): number {
  if (isNumber(a) && isNumber(b)) {
    const [left, right] = [a.valueOf(), b.valueOf()]
    return left < right ? -1 : left > right ? 1 : 0
  }
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b))
  if (Array.isArray(a) && Array.isArray(b) && a instanceof Tuple === b instanceof Tuple)
    return compareLists(a, b, operator)
  if (a instanceof Undefined) return a.use()
  if (b instanceof Undefined) return b.use()
  throw new TemplateError(
    `'${operator}' not supported between instances of '${typeOf(a)}' and '${typeOf(b)}'`,
  )
}

function compareLists(a: readonly unknown[], b: readonly unknown[], operator: OrderOperator): number {
  for (const [at, value] of a.entries()) {
    if (at >= b.length) return 1
    if (!isEqual(value, b[at])) return compare(value, b[at], operator)
  }
  return a.length - b.length
}

/** Whether a list has an element, a map a key, or a text a part. */
export function contains(container: unknown, value: unknown): boolean | Promise<boolean> {
  if (container instanceof Undefined) return container.use()
  if (container instanceof HostObject && container.parts.has) return container.parts.has(text(value))
  if (typeof container === 'string') {
    if (typeof value === 'string') return container.includes(value)
    if (value instanceof Undefined) return value.use()
    throw new TemplateError(`'in <string>' requires string as left operand, not ${typeOf(value)}`)
  }
  if (isMapping(container)) return hasKey(container, value)
  if (container instanceof View) return contains(container.items, value)
  if (Array.isArray(container)) return container.some((element) => isEqual(element, value))
  throw new TemplateError(`argument of type '${typeOf(container)}' is not iterable`)
}
