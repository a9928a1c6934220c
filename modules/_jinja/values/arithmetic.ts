/** Operators of Python. */
import { Float } from '#internal'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import type { BinaryOperator } from '../syntax/nodes.ts'
import { formatPercent } from './format-percent.ts'
import { checkLength, joined, repeated, timesOf } from './limits.ts'
import { float, isFloat, isNumber, type Num, shrunk } from './numbers.ts'
import { typeOf, Undefined } from './objects.ts'
import { text } from './text.ts'

/** A power with more bits is refused, as a result of hundreds of thousands of digits blocks the process. */
const MAX_BITS = 100_000

/** @throws TemplateError */
export function binary(operator: BinaryOperator, left: unknown, right: unknown): unknown {
  if (left instanceof Undefined) return left.use()
  if (right instanceof Undefined) return right.use()
  if (operator === '~') return joined(text(left), text(right))
  if (isNumber(left) && isNumber(right)) return ofNumbers(operator, left, right)
  if (operator === '+') return sum(left, right)
  if (operator === '*') return product(left, right)
  if (operator === '%' && typeof left === 'string') return formatPercent(left, right)
  throw unsupported(operator, left, right)
}

function sum(left: unknown, right: unknown): unknown {
  if (typeof left === 'string' && typeof right === 'string') return joined(left, right)
  if (Array.isArray(left) && Array.isArray(right) && left instanceof Tuple === right instanceof Tuple) {
    checkLength(left.length + right.length)
    const all = [...left, ...right]
    return left instanceof Tuple ? Tuple.from(all) : all
  }
  if (typeof left === 'string')
    throw new TemplateError(`can only concatenate str (not "${typeOf(right)}") to str`)
  if (Array.isArray(left))
    throw new TemplateError(
      `can only concatenate ${typeOf(left)} (not "${typeOf(right)}") to ${typeOf(left)}`,
    )
  throw unsupported('+', left, right)
}

function product(left: unknown, right: unknown): unknown {
  const [value, count] = isNumber(left) ? [right, left] : [left, right]
  if (!isNumber(count) || isFloat(count) || !(typeof value === 'string' || Array.isArray(value)))
    throw unsupported('*', left, right)
  if (typeof value === 'string') return repeated(value, Number(count))
  const items = Array.from({ length: timesOf(Number(count), value.length) }, () => value).flat()
  return value instanceof Tuple ? Tuple.from(items) : items
}

/** Those that give an integer of two integers. */
type NumberOperator = Exclude<BinaryOperator, '~' | '/'>

function ofNumbers(operator: Exclude<BinaryOperator, '~'>, left: Num, right: Num): unknown {
  if (operator === '/') return divide(Number(left), Number(right))
  if (isFloat(left) || isFloat(right)) return ofFloats(operator, Number(left), Number(right))
  const [a, b] = [Number(left), Number(right)]
  if (operator === '**' && b < 0) return negativePower(a, b)
  if (typeof left !== 'bigint' && typeof right !== 'bigint') {
    const result = ofIntegers(operator, a, b)
    if (typeof result !== 'number' || Number.isSafeInteger(result)) return result
  }
  return shrunk(ofBigints(operator, BigInt(left.valueOf()), BigInt(right.valueOf())))
}

function divide(left: number, right: number): unknown {
  if (right === 0) throw new TemplateError('division by zero')
  return float(left / right)
}

/** Floats and integers; rounded down, and with the sign of the divisor, as in Python. */
function ofFloats(operator: NumberOperator, a: number, b: number): unknown {
  if ((operator === '//' || operator === '%') && b === 0)
    throw new TemplateError(operator === '%' ? 'float modulo' : 'float floor division by zero')
  return float(compute(operator, a, b))
}

function ofIntegers(operator: NumberOperator, a: number, b: number): unknown {
  if ((operator === '//' || operator === '%') && b === 0) throw divisionByZero(operator)
  return compute(operator, a, b)
}

const divisionByZero = (operator: '//' | '%'): TemplateError =>
  new TemplateError(operator === '%' ? 'integer modulo by zero' : 'integer division or modulo by zero')

function negativePower(a: number, b: number): unknown {
  if (a === 0) throw new TemplateError('0.0 cannot be raised to a negative power')
  return float(a ** b)
}

function compute(operator: NumberOperator, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '//':
      return Math.floor(a / b)
    case '%':
      return a - b * Math.floor(a / b)
    case '**':
      return a ** b
  }
}

function ofBigints(operator: NumberOperator, a: bigint, b: bigint): bigint {
  switch (operator) {
    case '+':
      return a + b
    case '-':
      return a - b
    case '*':
      return a * b
    case '//':
    case '%':
      if (b === 0n) throw divisionByZero(operator)
      return operator === '%' ? a - b * floorDivided(a, b) : floorDivided(a, b)
    case '**':
      if (Number(b) * bitsOf(a) > MAX_BITS)
        throw new TemplateError(`powers with more than ${MAX_BITS} bits are refused`)
      return a ** b
  }
}

/** About how many bits a number has. */
const bitsOf = (value: bigint): number => 4 * value.toString(16).length

function floorDivided(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient
}

/** @throws TemplateError */
export function signed(operator: '-' | '+', value: unknown): unknown {
  if (value instanceof Undefined) return value.use()
  if (!isNumber(value)) throw new TemplateError(`bad operand type for unary ${operator}: '${typeOf(value)}'`)
  if (operator === '+') return typeof value === 'boolean' ? Number(value) : value
  if (typeof value === 'bigint') return -value
  return value instanceof Number ? new Float(-value) : 0 - Number(value)
}

const unsupported = (operator: BinaryOperator, left: unknown, right: unknown): TemplateError =>
  new TemplateError(
    `unsupported operand type(s) for ${operator === '**' ? '** or pow()' : operator}: '${typeOf(left)}' and '${typeOf(right)}'`,
  )
