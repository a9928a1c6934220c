import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Matcher } from '../../core/author/kinds.ts'

/** Every matcher plugin by target type, imported straight from its file. */
export async function allMatchers(): Promise<Map<string, Matcher>> {
  const folder = new URL('../../plugins/matchers/', import.meta.url)
  const files = readdirSync(fileURLToPath(folder)).filter((file) => /^[^_].*\.ts$/.test(file))
  const loaded = files.map(async (file): Promise<[string, Matcher]> => {
    const module = (await import(new URL(file, folder).href)) as { default: Matcher }
    return [file.slice(0, -3), module.default]
  })
  return new Map(await Promise.all(loaded))
}
