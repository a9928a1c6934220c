import { type Fn, isFn } from '../../author/fn.ts'
import type { Namespace } from '../files/import-file.ts'
import { typeInWords } from '../kind-of.ts'
import { isPrivate } from '../names.ts'

/**
 * Return why a file that was imported without an error offers no function of a name, or, without a name, none at all: a
 * sentence with a correction. Undefined if none of its exports looks like one.
 */
export function whyNotOffered(
  namespace: Namespace,
  own: string | undefined,
  offered: ReadonlyMap<string, Fn>,
): string | undefined {
  const exported = own !== undefined && Object.hasOwn(namespace, own)
  if (exported && isPrivate(own)) return `'${own}' is private, as all names that begin with _ are`
  if (exported && Array.isArray(namespace.load) && isFunction(namespace[own]))
    return `it exports '${own}', but does not list it in 'load'`
  if (exported && own !== 'default' && !isFunction(namespace[own]) && !holdsFunctions(namespace[own]))
    return `it exports '${own}', but that is ${typeInWords(namespace[own])} and no function; export a function: 'export const ${own} = fn(…)'`
  const held = heldFunctions(namespace)
  const match = held.find(([, names]) => own !== undefined && names.includes(own))
  const [holder, names] = match ?? (offered.size === 0 ? held[0] : undefined) ?? []
  if (!holder || !names) return undefined
  const what = holder === 'default' ? 'its default export' : `what '${holder}' holds`
  const example = match ? own : (names[0] ?? 'ping')
  const name = example === 'default' ? 'NAME' : example
  return `${what} is not offered; export each function by its name: 'export const ${name} = fn(…)'`
}

const isFunction = (value: unknown): boolean => typeof value === 'function' || isFn(value)

const holdsFunctions = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.values(value).some(isFunction)

/** List the exports that contain functions, or are one as the default export, with the names of these functions. */
function heldFunctions(namespace: Namespace): [holder: string, names: readonly string[]][] {
  const own = typeof namespace.default === 'function' ? [namespace.default.name, 'default'] : ['default']
  const held = Object.entries(namespace).filter(
    ([name, value]) => name !== 'load' && typeof value === 'object' && value !== null && !isFn(value),
  )
  return [
    ...(isFunction(namespace.default) ? [['default', own] as [string, string[]]] : []),
    ...held.flatMap(([name, value]): [string, string[]][] => {
      const functions = Object.entries(value as object).filter(([, member]) => isFunction(member))
      const names = Array.isArray(value) ? [] : functions.map(([member]) => member)
      return functions.length > 0 ? [[name, names]] : []
    }),
  ]
}
