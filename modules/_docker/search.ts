import { CommandExecutionError, type Context } from 'salt-ts'
import { address, dockerJson, type Json } from './api.ts'

const KEYS: Readonly<Record<string, string>> = {
  description: 'Description',
  is_official: 'Official',
  is_trusted: 'Trusted',
  star_count: 'Stars',
}

/** Return the images of a registry that match a word, by name; with `wanted`, those for which one of these keys is true. */
export async function searchImages(
  term: string,
  wanted: readonly string[],
  context: Context,
): Promise<Record<string, Json>> {
  const found = await dockerJson<Json[]>('GET', address(['images', 'search'], { term }), context)
  if (found.length === 0) throw new CommandExecutionError(`No images matched the search string '${term}'`)
  const named = found.map(({ name, ...facts }): [string, Json] => [
    String(name),
    Object.fromEntries(Object.entries(facts).map(([key, value]) => [KEYS[key] ?? key, value])),
  ])
  const isWanted = ([, facts]: [string, Json]) => wanted.length === 0 || wanted.some((key) => facts[key])
  return Object.fromEntries(named.filter(isWanted))
}
