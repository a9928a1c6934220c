/**
 * The values of templates: those of jobs (null, booleans, numbers, `Float`, bigints, texts, bytes, lists, plain objects and Maps),
 * tuples, functions and objects of the engine, and what is undefined. They behave as those of Python.
 */
import { Float } from '#internal'
import { pythonText, typeName } from '../../_values/python.ts'
import { isMapping, type Mapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError, UndefinedError } from '../errors.ts'
import type { ComparisonOperator } from '../syntax/nodes.ts'

/** What a name that is not there gives. To use it is an error, but for the test `defined` and the filter `default`. */
export class Undefined {
  readonly message: string
  /** With `allow_undefined` it is an empty text, an empty list, and false. */
  readonly isAllowed: boolean

  constructor(message: string, isAllowed = false) {
    this.message = message
    this.isAllowed = isAllowed
  }

  /** @throws UndefinedError */
  use(): never {
    throw new UndefinedError(this.message)
  }

  /** What it is inside a list. */
  toString(): string {
    return 'Undefined'
  }
}

/** What `range`, and `keys`, `values` and `items` of a map give: elements that are no list. */
export class View {
  readonly typeName: string
  readonly #read: () => readonly unknown[]
  readonly #shown: string | undefined

  constructor(typeName: string, read: () => readonly unknown[], shown?: string) {
    this.typeName = typeName
    this.#read = read
    this.#shown = shown
  }

  /** The elements as they are now. */
  get items(): readonly unknown[] {
    return this.#read()
  }

  toString(): string {
    return this.#shown ?? `${this.typeName}(${pythonText(this.items)})`
  }
}

/** What `groupby` gives: a tuple of which the parts have names. */
export class Group extends Tuple {
  get grouper(): unknown {
    return this[0]
  }

  get list(): unknown {
    return this[1]
  }
}

/** What a call gives to a function. */
export interface Given {
  readonly args: readonly unknown[]
  readonly kwargs: ReadonlyMap<string, unknown>
}

export const nothingGiven: Given = { args: [], kwargs: new Map() }

/** The arguments of a call, and the name of the function, filter or test that gets them. */
export interface CallArguments extends Given {
  readonly name: string
}

/** A function: a macro, a method, one of the engine, or one of Salt. May be asynchronous. */
export class Callable {
  readonly name: string
  readonly #run: (given: CallArguments) => unknown
  /** Its attributes, such as `name` of a macro. */
  readonly members: Readonly<Record<string, unknown>>
  readonly #text: string

  constructor(
    name: string,
    run: (given: CallArguments) => unknown,
    {
      members = {},
      text = `<function ${name}>`,
    }: { readonly members?: Readonly<Record<string, unknown>>; readonly text?: string } = {},
  ) {
    this.name = name
    this.#run = run
    this.members = members
    this.#text = text
  }

  call(given: Given): unknown {
    return this.#run({ ...given, name: this.name })
  }

  toString(): string {
    return this.#text
  }
}

/** What an object with members of its own consists of. */
export interface HostParts {
  /** What its type is called in messages. */
  readonly typeName: string
  /** May be asynchronous. */
  member(name: string): unknown
  /** Change a member; only namespaces allow that. */
  assign?(name: string, value: unknown): void
  has?(name: string): boolean | Promise<boolean>
  /** What a call of it gives. */
  invoke?(given: CallArguments): unknown
  /** What it is as text. */
  text?(): string
}

/** An object with members of its own, such as `loop`, a namespace, or `salt`. */
export class HostObject {
  readonly parts: HostParts

  constructor(parts: HostParts) {
    this.parts = parts
  }

  toString(): string {
    return this.parts.text?.() ?? `<${this.parts.typeName}>`
  }
}

/** A float of Python: whole ones are `Float`. */
export const float = (value: number): number | Float => (Number.isInteger(value) ? new Float(value) : value)

/** A big integer as a number, if it is small enough. */
export const shrunk = (value: bigint): bigint | number =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value

export const isFloat = (value: unknown): boolean =>
  value instanceof Number || (typeof value === 'number' && !Number.isSafeInteger(value))

export const isNumber = (value: unknown): value is number | bigint | boolean | Float =>
  typeof value === 'number' ||
  typeof value === 'bigint' ||
  typeof value === 'boolean' ||
  value instanceof Number

/** What Python calls the type of a value. */
export function typeOf(value: unknown): string {
  if (value instanceof Tuple) return 'tuple'
  if (value instanceof Callable) return 'function'
  if (value instanceof View) return value.typeName
  if (value instanceof HostObject) return value.parts.typeName
  return typeName(value)
}

export function isTrue(value: unknown): boolean {
  if (value instanceof Undefined) return value.isAllowed ? false : value.use()
  if (value instanceof Number) return value.valueOf() !== 0
  if (value instanceof Uint8Array || Array.isArray(value)) return value.length > 0
  if (value instanceof View) return value.items.length > 0
  if (isMapping(value)) return sizeOf(value) > 0
  return Boolean(value)
}

const sizeOf = (mapping: Mapping): number =>
  mapping instanceof Map ? mapping.size : Object.keys(mapping).length

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

export const entries = (mapping: Mapping): (readonly [unknown, unknown])[] =>
  mapping instanceof Map ? [...mapping] : Object.entries(mapping)

/** The keys that are equal in Python are the same one: 1, 1.0 and True. */
const keyOf = (key: unknown): unknown =>
  typeof key === 'boolean' ? Number(key) : key instanceof Number ? key.valueOf() : key

/** The key of a map that is equal to this one, if there is any. */
function keyIn(map: ReadonlyMap<unknown, unknown>, key: unknown): unknown {
  if (map.has(key)) return key
  if (key instanceof Tuple)
    return [...map.keys()].find((other) => other instanceof Tuple && isEqual(other, key)) ?? key
  if (!isNumber(key)) return key
  const number = keyOf(key)
  return (
    [number, Boolean(number)].find((other) => Number(other) === Number(number) && map.has(other)) ?? number
  )
}

export function getKey(mapping: Mapping, key: unknown): unknown {
  if (mapping instanceof Map) return mapping.get(keyIn(mapping, key))
  return typeof key === 'string' && Object.hasOwn(mapping, key) ? mapping[key as never] : undefined
}

export const hasKey = (mapping: Mapping, key: unknown): boolean =>
  mapping instanceof Map
    ? mapping.has(keyIn(mapping, key))
    : typeof key === 'string' && Object.hasOwn(mapping, key)

/** A map that a template may change, unless it is frozen. */
export type Dict = Map<unknown, unknown> | Record<string, unknown>

export const isDict = (value: unknown): value is Dict => isMapping(value)

/** @throws TemplateError if it is a list or map that a template may not change, such as the grains */
export function checkChangeable(value: readonly unknown[] | Mapping): void {
  if (!Object.isFrozen(value)) return
  throw new TemplateError(
    Array.isArray(value)
      ? 'this list cannot be changed: copy it by `|list`'
      : 'this map cannot be changed: copy it by dict(…)',
  )
}

export function setKey(dict: Dict, key: unknown, value: unknown): void {
  checkChangeable(dict)
  checkKey(key)
  if (dict instanceof Map)
    dict.set(hasKey(dict, key) || typeof key !== 'boolean' ? keyIn(dict, key) : key, value)
  else if (typeof key === 'string') Object.defineProperty(dict, key, { value, ...ordinary })
  else throw new TemplateError(`this map takes texts as keys only, not '${typeOf(key)}'`)
}

const ordinary = { writable: true, enumerable: true, configurable: true }

export function deleteKey(dict: Dict, key: unknown): void {
  checkChangeable(dict)
  if (dict instanceof Map) dict.delete(keyIn(dict, key))
  else delete dict[key as string]
}

function checkKey(key: unknown): void {
  if (key instanceof Undefined) key.use()
  if ((Array.isArray(key) && !(key instanceof Tuple)) || isMapping(key))
    throw new TemplateError(`unhashable type: '${typeOf(key)}'`)
}

const SURROGATE = /[\ud800-\udfff]/

/** An element of a map or list, if it is there. */
export function elementOf(value: unknown, key: unknown): unknown {
  if (isMapping(value)) return getKey(value, key)
  if (value instanceof View) return value.typeName === 'range' ? elementOf(value.items, key) : undefined
  const isList = Array.isArray(value) || typeof value === 'string' || value instanceof Uint8Array
  if (!isList || !isNumber(key) || isFloat(key)) return undefined
  const at = Number(key)
  if (typeof value === 'string' && !SURROGATE.test(value)) return value.at(at) // most have a unit for each character
  return elements(value).at(at)
}

/** The elements of a list, the keys of a map, or the characters of a text. @throws TemplateError for others */
export function elements(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value instanceof View) return value.items
  if (typeof value === 'string') return [...value]
  if (value instanceof Undefined) return value.isAllowed ? [] : value.use()
  if (value instanceof Uint8Array) return [...value]
  if (isMapping(value)) return entries(value).map(([key]) => key)
  throw new TemplateError(`'${typeOf(value)}' object is not iterable`)
}

export const isIterable = (value: unknown): boolean =>
  value instanceof View ||
  Array.isArray(value) ||
  typeof value === 'string' ||
  value instanceof Uint8Array ||
  isMapping(value)

export function lengthOf(value: unknown): number {
  if (value instanceof Undefined) return value.use()
  if (!isIterable(value)) throw new TemplateError(`object of type '${typeOf(value)}' has no len()`)
  return isMapping(value) ? sizeOf(value) : elements(value).length
}

/** Whether two values are equal in Python. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a instanceof Undefined) return a.isAllowed ? b instanceof Undefined : a.use()
  if (b instanceof Undefined) return b.isAllowed ? false : b.use()
  // biome-ignore lint/suspicious/noDoubleEquals: numbers and bigints are compared by value
  if (isNumber(a) && isNumber(b)) return a.valueOf() == b.valueOf()
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  if (Array.isArray(a) && Array.isArray(b))
    return (
      a instanceof Tuple === b instanceof Tuple &&
      a.length === b.length &&
      a.every((one, at) => isEqual(one, b[at]))
    )
  if (a instanceof View && b instanceof View) return a.typeName === b.typeName && isEqual(a.items, b.items)
  if (!isMapping(a) || !isMapping(b)) return false
  return (
    sizeOf(a) === sizeOf(b) &&
    entries(a).every(([key, value]) => hasKey(b, key) && isEqual(value, getKey(b, key)))
  )
}

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

/** A whole number. @throws TemplateError */
export function integer(value: unknown): number {
  if (value instanceof Undefined) return value.use()
  if (!isNumber(value) || isFloat(value))
    throw new TemplateError(`'${typeOf(value)}' object cannot be interpreted as an integer`)
  return Number(value)
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
