/** A character that ends a command for the shell, or makes a placeholder, outside of quotes. */
const PART =
  /\s*(?:(?<end>[|;&#])|(?<other>[<>()`])|(?<word>(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\|;&<>()`])+))/y

/** Split a command line as a shell does, up to its first `|`, `;` or `&`; undefined if that is not plain. */
export function shellWords(line: string): string[] | undefined {
  const words: string[] = []
  PART.lastIndex = 0
  while (line.slice(PART.lastIndex).trim() !== '') {
    const { end, word } = PART.exec(line)?.groups ?? {}
    if (end !== undefined) return words
    if (word === undefined || /…|\.\.\.$/.test(word)) return undefined
    words.push(unquoted(word))
  }
  return words
}

const unquoted = (word: string): string =>
  word.replace(/'([^']*)'|"((?:\\.|[^"\\])*)"|\\(.)/g, (_, single, double, escaped) =>
    String(single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped),
  )
