/** Conversions of values that fit their schema into what a function receives: a date of a text, a refined number. */
import { hasType } from './has-type.ts'
import type { Param } from './params.ts'

/** Why a value is refused, as the end of a sentence that begins with the name of the parameter. */
export interface Refused {
  readonly demand: string
  /** What a library says, which may quote the value. */
  readonly detail?: string
  /** The wrong value, if it is to be shown. */
  readonly value?: unknown
  /** The keys that lead to it. */
  readonly inside: readonly string[]
}

export type Converted = { readonly value: unknown } | Refused
export type Convert = (value: unknown) => Converted | Promise<Converted>

export const refused = (demand: string, value: unknown): Refused => ({ demand, value, inside: [] })

const under = (key: string, why: Refused): Refused => ({ ...why, inside: [key, ...why.inside] })

/** Return a conversion of the items of a list; undefined if they are not converted. */
export function convertList({ convert }: Param<unknown>): Convert | undefined {
  if (!convert) return undefined
  return async (given) => {
    const value: unknown[] = []
    for (const [index, item] of (given as unknown[]).entries()) {
      const converted = await convert(item)
      if ('demand' in converted) return under(String(index), converted)
      value.push(converted.value)
    }
    return { value }
  }
}

/** Return a conversion of the values of a map, by their keys or else by `others`; undefined if none is converted. */
export function convertMap(
  properties: ReadonlyMap<string, Param<unknown>>,
  others?: Param<unknown>,
): Convert | undefined {
  if (![...properties.values(), others].some((param) => param?.convert)) return undefined
  return async (given) => {
    const value = new Map<string, unknown>(Object.entries(given as object))
    const absent = [...properties].filter(([key, param]) => param.convertsAbsent && !value.has(key))
    for (const key of [...value.keys(), ...absent.map(([key]) => key)]) {
      const { convert } = properties.get(key) ?? others ?? {}
      const converted = convert ? await convert(value.get(key)) : { value: value.get(key) }
      if ('demand' in converted) return under(key, converted)
      if (converted.value !== undefined) value.set(key, converted.value)
    }
    return { value: Object.fromEntries(value) }
  }
}

/** Return a conversion by the first member that takes the value; undefined if none of them converts. */
export function convertUnion(members: readonly Param<unknown>[]): Convert | undefined {
  if (!members.some(({ convert }) => convert)) return undefined
  return async (value) => {
    let first: Refused | undefined
    for (const { schema, convert } of members) {
      if (!hasType(value, schema)) continue
      const converted = convert ? await convert(value) : { value }
      if (!('demand' in converted)) return converted
      first ??= converted
    }
    return first ?? { value }
  }
}
