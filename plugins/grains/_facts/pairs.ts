/** Return the pairs of a text with `key<separator>value` lines. The first of several equal keys counts. */
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
