/** The filters of Salt that change what is deep inside a map, and return the map. */
import type { Filter } from '../environment.ts'
import { TemplateError } from '../errors.ts'
import { bind, REQUIRED } from '../values/arguments.ts'
import { checkChangeable, type Dict, getKey, hasKey, isDict, setKey } from '../values/dicts.ts'
import { pairs } from '../values/methods.ts'
import { typeOf } from '../values/objects.ts'
import { extend } from '../values/sequences.ts'
import { text } from '../values/text.ts'

/** Change what is at a path such as `a:b:c`. The maps on the way to it are made. */
const atPath =
  (change: (inner: Dict, key: string, value: unknown) => void): Filter =>
  (map, given) => {
    const { keys, value, delimiter } = bind(
      { keys: REQUIRED, value: REQUIRED, delimiter: ':', ordered_dict: false },
      given,
    )
    if (!isDict(map)) throw new TemplateError(`a map was expected, not '${typeOf(map)}'`)
    const steps = text(keys).split(text(delimiter))
    const last = steps.pop() as string
    change(steps.reduce<Dict>(mapIn, map), last, value)
    return map
  }

function mapIn(map: Dict, key: string): Dict {
  const found = getKey(map, key)
  if (isDict(found)) return found
  const made = new Map<unknown, unknown>()
  setKey(map, key, made)
  return made
}

/** The list at a key, which is made if there is none. */
function listIn(map: Dict, key: string, verb: string): unknown[] {
  if (!hasKey(map, key) || getKey(map, key) === null) setKey(map, key, [])
  const list = getKey(map, key)
  if (!Array.isArray(list))
    throw new TemplateError(`The last key contains a <class '${typeOf(list)}'>, which cannot ${verb}.`)
  checkChangeable(list)
  return list
}

export const keyFilters: Readonly<Record<string, Filter>> = {
  set_dict_key_value: atPath(setKey),
  append_dict_key_value: atPath((map, key, value) => void listIn(map, key, 'append').push(value)),
  extend_dict_key_value: atPath((map, key, value) => extend(listIn(map, key, 'extend'), value)),
  update_dict_key_value: atPath((map, key, value) => {
    if (!hasKey(map, key) || getKey(map, key) === null) setKey(map, key, new Map())
    const inner = getKey(map, key)
    if (!isDict(inner))
      throw new TemplateError(`The last key contains a <class '${typeOf(inner)}'>, which cannot update.`)
    for (const [innerKey, innerValue] of pairs(value)) setKey(inner, innerKey, innerValue)
  }),
}
