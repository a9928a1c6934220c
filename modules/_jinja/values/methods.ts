/** Methods of texts, bytes, lists and maps, as those of Python. */
import { pythonRepr } from '../../_values/python.ts'
import { isMapping } from '../../_values/traverse.ts'
import { Tuple } from '../../_values/tuple.ts'
import { TemplateError } from '../errors.ts'
import { bind, type Method, REQUIRED, withoutArguments } from './arguments.ts'
import { compare } from './compare.ts'
import { checkChangeable, type Dict, deleteKey, entries, getKey, hasKey, isEqual, setKey } from './dicts.ts'
import { integer, isFloat, isNumber } from './numbers.ts'
import { type CallArguments, Callable, View } from './objects.ts'
import { elements, extend, isTrue } from './sequences.ts'
import { text } from './text.ts'
import { textMethods } from './text-methods.ts'

export function methodOf(value: unknown, name: string): Callable | undefined {
  const methods = methodsOf(value)
  if (!methods || !Object.hasOwn(methods, name)) return undefined
  const method = methods[name] as Method<unknown>
  return new Callable(name, (given) => method(value, given))
}

function methodsOf(value: unknown): Readonly<Record<string, Method<never>>> | undefined {
  if (typeof value === 'string') return textMethods
  if (value instanceof Tuple) return tupleMethods
  if (Array.isArray(value)) return listMethods
  if (value instanceof Uint8Array) return byteMethods
  if (isMapping(value)) return mapMethods
  return isNumber(value) && isFloat(value) ? floatMethods : undefined
}

const tupleMethods: Readonly<Record<string, Method<unknown[]>>> = {
  count: (list, given) => list.filter((each) => isEqual(each, only(given))).length,
  index: (list, given) => indexOf(list, given),
}

const listChanges: Readonly<Record<string, Method<unknown[]>>> = {
  append(list, given) {
    list.push(only(given))
    return null
  },
  extend(list, given) {
    extend(list, only(given))
    return null
  },
  insert(list, given) {
    const { index, object } = bind({ index: REQUIRED, object: REQUIRED }, given)
    list.splice(integer(index), 0, object)
    return null
  },
  pop(list, given) {
    const index = integer(bind({ index: -1 }, given).index)
    const at = index < 0 ? list.length + index : index
    if (at < 0 || at >= list.length)
      throw new TemplateError(list.length === 0 ? 'pop from empty list' : 'pop index out of range')
    return list.splice(at, 1)[0]
  },
  remove(list, given) {
    const value = only(given)
    const at = list.findIndex((each) => isEqual(each, value))
    if (at < 0) throw new TemplateError('list.remove(x): x not in list')
    list.splice(at, 1)
    return null
  },
  sort(list, given) {
    const { reverse } = bind({ reverse: false }, given)
    list.sort((a, b) => compare(a, b))
    if (isTrue(reverse)) list.reverse()
    return null
  },
  reverse: withoutArguments((list) => {
    list.reverse()
    return null
  }),
  clear: withoutArguments((list) => {
    list.length = 0
    return null
  }),
}

const listMethods: Readonly<Record<string, Method<unknown[]>>> = {
  ...tupleMethods,
  copy: withoutArguments((list) => [...list]),
  ...Object.fromEntries(Object.entries(listChanges).map(([name, change]) => [name, ofChangeable(change)])),
}

function ofChangeable(change: Method<unknown[]>): Method<unknown[]> {
  return (list, given) => {
    checkChangeable(list)
    return change(list, given)
  }
}

const only = (given: CallArguments): unknown => bind({ value: REQUIRED }, given).value

function indexOf(list: readonly unknown[], given: CallArguments): number {
  const { value, start } = bind({ value: REQUIRED, start: 0 }, given)
  const from = integer(start)
  const at = list.findIndex((each, index) => index >= from && isEqual(each, value))
  if (at < 0) throw new TemplateError(`${text(value)} is not in list`)
  return at
}

/** Marks a parameter that has no value if it is not given. */
const NO_DEFAULT = Symbol('no default')

const mapMethods: Readonly<Record<string, Method<Dict>>> = {
  keys: withoutArguments((map) => new View('dict_keys', () => entries(map).map(([key]) => key))),
  values: withoutArguments((map) => new View('dict_values', () => entries(map).map(([, value]) => value))),
  items: withoutArguments(
    (map) => new View('dict_items', () => entries(map).map(([key, value]) => Tuple.of(key, value))),
  ),
  get(map, given) {
    const { key, default: fallback } = bind({ key: REQUIRED, default: null }, given)
    return hasKey(map, key) ? getKey(map, key) : fallback
  },
  setdefault(map, given) {
    const { key, default: fallback } = bind({ key: REQUIRED, default: null }, given)
    if (!hasKey(map, key)) setKey(map, key, fallback)
    return getKey(map, key)
  },
  update(map, { args, kwargs }) {
    for (const other of args) for (const [key, value] of pairs(other)) setKey(map, key, value)
    for (const [key, value] of kwargs) setKey(map, key, value)
    return null
  },
  pop(map, given) {
    const { key, default: fallback } = bind({ key: REQUIRED, default: NO_DEFAULT }, given)
    if (!hasKey(map, key)) {
      if (fallback === NO_DEFAULT) throw new TemplateError(`KeyError: ${pythonRepr(key)}`)
      return fallback
    }
    const value = getKey(map, key)
    deleteKey(map, key)
    return value
  },
  popitem: withoutArguments((map) => {
    const last = entries(map).at(-1)
    if (!last) throw new TemplateError('popitem(): dictionary is empty')
    deleteKey(map, last[0])
    return Tuple.of(...last)
  }),
  copy: withoutArguments((map) => new Map(entries(map))),
  fromkeys: (_map, given) => mapOfKeys(given),
  clear: withoutArguments((map) => {
    for (const [key] of entries(map)) deleteKey(map, key)
    return null
  }),
}

/** A map of keys that all have the same value. */
export function mapOfKeys(given: CallArguments): Map<unknown, unknown> {
  const { iterable, value } = bind({ iterable: REQUIRED, value: null }, given)
  const map = new Map<unknown, unknown>()
  for (const key of elements(iterable)) setKey(map, key, value)
  return map
}

/** The entries of a map, or of a list of pairs. @throws TemplateError */
export function pairs(value: unknown): (readonly [unknown, unknown])[] {
  if (isMapping(value)) return [...entries(value)]
  return elements(value).map((pair) => {
    const both = elements(pair)
    if (both.length !== 2) throw new TemplateError(`a pair was expected, not ${both.length} elements`)
    return [both[0], both[1]] as const
  })
}

const byteMethods: Readonly<Record<string, Method<Uint8Array>>> = {
  decode(bytes, given) {
    const { encoding } = bind({ encoding: 'utf-8', errors: 'strict' }, given)
    try {
      return new TextDecoder(String(encoding), { fatal: true }).decode(bytes)
    } catch (cause) {
      throw new TemplateError(`bytes cannot be decoded as ${encoding}`, { cause })
    }
  },
  hex: withoutArguments((bytes) => Buffer.from(bytes).toString('hex')),
}

const floatMethods: Readonly<Record<string, Method<number>>> = {
  is_integer: withoutArguments((value) => Number.isInteger(Number(value))),
}
