import { readdir, readFile, stat } from 'node:fs/promises'

/** The text of a file; undefined if it is not there or not for us. */
export async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}

/** The text of a file without blanks around it; undefined if there is none. */
export async function lineOf(path: string): Promise<string | undefined> {
  return (await textOf(path))?.replaceAll('\0', '').trim() || undefined
}

/** Names in a folder, sorted; none if it is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).sort()
}

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** The lines of a `key<separator>value` file; of a key that comes twice, the first. */
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
