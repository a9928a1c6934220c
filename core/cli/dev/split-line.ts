import { UsageError } from '../exit-codes.ts'

/**
 * Split a line into words as a shell does: at white space, but not within quotes or after a backslash. Nothing is expanded.
 * @throws UsageError if a quote is not closed
 */
export function splitLine(line: string): string[] {
  const words: string[] = []
  const part = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|([^\s'"\\]+)|(\s+)|(.)/gsu
  let word: string | undefined
  for (const [, single, double, escaped, plain, space, open] of line.matchAll(part)) {
    if (open !== undefined) throw new UsageError(`The line has a ${open} that nothing follows or closes.`)
    if (space === undefined)
      word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? plain)
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  return word === undefined ? words : [...words, word]
}
