import { SaltInvocationError } from 'salt-ts'

const WORD = /"((?:[^"\\]|\\[\s\S])*)"|'([^']*)'|\\([\s\S])|([^\s"'\\]+)|(\s+)|([\s\S])/g

/** Split a command line into words by the quoting rules of a POSIX shell, without any expansion. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  let word: string | undefined
  for (const [, double, single, escaped, plain, blank, stray] of line.matchAll(WORD)) {
    if (stray !== undefined) throw unfinished(line, stray)
    if (blank !== undefined) {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    word = (word ?? '') + (double?.replace(/\\(["\\])/g, '$1') ?? single ?? escaped ?? plain ?? '')
  }
  if (word !== undefined) words.push(word)
  return words
}

function unfinished(line: string, at: string): SaltInvocationError {
  const reason = at === '\\' ? 'it ends with a backslash' : `a quotation mark ${at} is never closed`
  return new SaltInvocationError(`The command line of ${line.length} characters cannot be split: ${reason}`)
}
