/** A command line as far as it is typed: its words, the last of which is to be completed. */
export function wordsOf(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string
    if (quote !== '') {
      if (char === quote) quote = ''
      else word += char
    } else if (char === "'" || char === '"') {
      quote = char
      word ??= ''
    } else if (char === '\\') {
      word = (word ?? '') + (line[++at] ?? '')
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  return [...words, word ?? '']
}
