/** The tests of Jinja, and those that Salt adds. */
import { isMapping } from '../_values/traverse.ts'
import { Tuple } from '../_values/tuple.ts'
import type { Test } from './environment.ts'
import { bind, REQUIRED, withoutArguments } from './values/arguments.ts'
import { binary } from './values/arithmetic.ts'
import { compare, contains } from './values/compare.ts'
import { isEqual } from './values/dicts.ts'
import { integer, isFloat, isNumber } from './values/numbers.ts'
import { type CallArguments, Callable, HostObject, Range, Undefined, View } from './values/objects.ts'
import { searchWith } from './values/regex.ts'
import { isIterable } from './values/sequences.ts'
import { strictText, text } from './values/text.ts'
import { isLower, isUpper } from './values/text-methods.ts'

const is = withoutArguments<unknown, boolean>

const withArgument =
  (holds: (value: unknown, other: unknown) => boolean | Promise<boolean>): Test =>
  (value, given) =>
    holds(value, bind({ other: REQUIRED }, given).other)

/** What a division leaves, exact also for large integers. @throws TemplateError if a value is no number */
function remainder(value: unknown, divisor: unknown): number {
  const [a, b] = [value, divisor].map((each) => (isNumber(each) ? each : integer(each)))
  return Number(binary('%', a, b))
}

const equal = withArgument(isEqual)
const notEqual = withArgument((value, other) => !isEqual(value, other))
const less = withArgument((value, other) => compare(value, other) < 0)
const greater = withArgument((value, other) => compare(value, other, '>') > 0)
const atMost = withArgument((value, other) => compare(value, other, '<=') <= 0)
const atLeast = withArgument((value, other) => compare(value, other, '>=') >= 0)

export const tests: Readonly<Record<string, Test>> = {
  defined: is((value) => !(value instanceof Undefined)),
  undefined: is((value) => value instanceof Undefined),
  none: is((value) => value === null),
  boolean: is((value) => typeof value === 'boolean'),
  true: is((value) => value === true),
  false: is((value) => value === false),
  integer: is((value) => isNumber(value) && typeof value !== 'boolean' && !isFloat(value)),
  float: is(isFloat),
  number: is((value) => isNumber(value)),
  string: is((value) => typeof value === 'string'),
  mapping: is(isMapping),
  sequence: is((value) => isIterable(value) && !(value instanceof View && !(value instanceof Range))),
  iterable: is((value) => (value instanceof Undefined && !value.isAllowed ? value.use() : isIterable(value))),
  list: is((value) => Array.isArray(value) && !(value instanceof Tuple)),
  callable: is(
    (value) => value instanceof Callable || (value instanceof HostObject && value.parts.invoke !== undefined),
  ),
  escaped: is(() => false),
  lower: is((value) => isLower(text(value))),
  upper: is((value) => isUpper(text(value))),
  odd: is((value) => remainder(value, 2) === 1),
  even: is((value) => remainder(value, 2) === 0),
  divisibleby: withArgument((value, other) => remainder(value, other) === 0),
  sameas: withArgument((value, other) => value === other),
  in: withArgument((value, other) => contains(other, value)),
  eq: equal,
  equalto: equal,
  '==': equal,
  ne: notEqual,
  '!=': notEqual,
  lt: less,
  lessthan: less,
  '<': less,
  gt: greater,
  greaterthan: greater,
  '>': greater,
  le: atMost,
  '<=': atMost,
  ge: atLeast,
  '>=': atLeast,
  filter(value, given, environment) {
    bind({}, given)
    return environment.filters.has(text(value))
  },
  test(value, given, environment) {
    bind({}, given)
    return environment.tests.has(text(value))
  },
  match: matches,
}

function matches(value: unknown, given: CallArguments): boolean {
  const pattern = bind({ rgx: REQUIRED, ignorecase: false, multiline: false }, given)
  return searchWith(pattern, (search) => search.begins(strictText(value)))
}
