import { readdir, readFile, stat } from 'node:fs/promises'

/** Return the text of a file; undefined if it is missing or may not be read. */
export async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/** Return the text of a file without surrounding white space; undefined if there is none. */
export async function lineOf(path: string): Promise<string | undefined> {
  return (await textOf(path))?.replaceAll('\0', '').trim() || undefined
}

/** Return the sorted names in a folder; none if it does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort()
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** Return the pairs of a file with `key<separator>value` lines. The first of several equal keys counts. */
export function pairsIn(text: string, separator: string): Map<string, string> {
  const pairs = new Map<string, string>()
  for (const line of text.split('\n')) {
    const at = line.indexOf(separator)
    const key = line.slice(0, at).trim()
    if (at > 0 && !key.startsWith('#') && !pairs.has(key))
      pairs.set(key, line.slice(at + separator.length).trim())
  }
  return pairs
}
