/** Differences between two containers, and between two networks. */
import { isDeepStrictEqual } from 'node:util'
import { CommandExecutionError, type Context } from 'salt-ts'
import type { Json } from './api.ts'
import { inspect } from './containers.ts'
import { inspectImage } from './images.ts'

interface Difference {
  readonly old: unknown
  readonly new: unknown
}
/** Differences by key. */
export type Differences = Record<string, Difference>

/** Return whether a value says something: neither is anything empty a value, nor 0 or false, as in Python. */
export const says = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)

/** Return the keys of two maps, but those that are left out. */
const keysOf = (first: Json, second: Json, ignored: readonly string[]): string[] =>
  [...new Set([...Object.keys(first), ...Object.keys(second)])].filter((key) => !ignored.includes(key))

/** Compare the configurations of two containers. */
export async function compareContainers(
  [first, second]: readonly [string, string],
  ignored: readonly string[],
  context: Context,
): Promise<Record<string, Differences>> {
  const [one, other] = [await inspect(first, context), await inspect(second, context)]
  const found: Record<string, Differences> = {}
  for (const part of ['Config', 'HostConfig']) {
    const [before, after] = [mapIn(one, part, first), mapIn(other, part, second)]
    const differences: Differences = {}
    for (const key of keysOf(before, after, ignored)) {
      const given = [before[key], after[key]] as const
      const values =
        key === 'Image' ? await imageIds(given, context) : comparable(key, given, [first, second])
      if (values && !isDeepStrictEqual(...values))
        differences[key] = { old: values[0] ?? null, new: values[1] ?? null }
    }
    if (Object.keys(differences).length > 0) found[part] = differences
  }
  return found
}

function mapIn(container: Json, part: string, name: string): Json {
  const found = container[part]
  if (typeof found === 'object' && found !== null) return found as Json
  throw new CommandExecutionError(`Docker says nothing about the ${part} of container '${name}'.`)
}

type Pair = readonly [unknown, unknown]

/** Return two values as they are compared, or undefined if neither says anything. */
function comparable(key: string, values: Pair, names: readonly [string, string]): Pair | undefined {
  const [before, after] = values
  const isAbsent = (value: unknown) => value === null || value === undefined
  if (key === 'OomKillDisable' || isAbsent(before) || isAbsent(after))
    return says(before) === says(after) ? undefined : values
  if (key === 'Links') return [linksOf(before, names[0]), linksOf(after, names[1])]
  if (key === 'Ulimits') return [sorted(before), sorted(after)]
  return key === 'Env' ? [sorted(before), sorted(after)] : values
}

/** Links name the container that has them. */
const linksOf = (links: unknown, name: string): unknown =>
  Array.isArray(links) ? sorted(links.map((link) => String(link).replace(`/${name}/`, '/'))) : links

/** Return a list in order: of texts, or of limits by their names. */
export function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value
  const rank = (item: unknown) => {
    if (typeof item !== 'object' || item === null) return String(item)
    const { Name, Hard = 0, Soft = 0 } = item as Json
    return Name === undefined ? JSON.stringify(item) : JSON.stringify([Name, Hard, Soft])
  }
  return value.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0))
}

async function imageIds([before, after]: Pair, context: Context): Promise<Pair | undefined> {
  if (!before || !after) return says(before) === says(after) ? undefined : [before, after]
  const ids = [String(before), String(after)].map(async (name) => (await inspectImage(name, context)).Id)
  return [await ids[0], await ids[1]]
}

/** Compare what Docker has on two networks. */
export function compareNetworkFacts(one: Json, other: Json, ignored: readonly string[]): Json {
  const found: Json = {}
  for (const key of keysOf(one, other, ignored)) {
    const [before, after] = [one[key], other[key]]
    if (!says(before) && !says(after)) continue
    const parts = Object.hasOwn(one, key) ? partsOf(key, before, after) : undefined
    if (parts) Object.assign(found, Object.keys(parts).length > 0 && { [key]: parts })
    else if (!isDeepStrictEqual(before, after)) found[key] = { old: before ?? null, new: after ?? null }
  }
  return found
}

/** Name of the interface of a bridge, which differs between all networks. */
const BRIDGE_NAME = 'com.docker.network.bridge.name'

function partsOf(key: string, before: unknown, after: unknown): Differences | undefined {
  if (key !== 'IPAM' && key !== 'Options') return undefined
  const [one, other] = [(before ?? {}) as Json, (after ?? {}) as Json]
  const found: Differences = {}
  for (const part of Object.keys(one)) {
    if (key === 'Options' && part === BRIDGE_NAME) continue
    const isList = key === 'IPAM' && part === 'Config'
    const [old, now] = isList ? [sorted(one[part]), sorted(other[part] ?? [])] : [one[part], other[part]]
    const isSilent = key === 'IPAM' && !says(old) && !says(now)
    if (!isSilent && !isDeepStrictEqual(old, now)) found[part] = { old: old ?? null, new: now ?? null }
  }
  return found
}
