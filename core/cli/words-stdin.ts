import { text } from 'node:stream/consumers'

/** The words of the command line and, if asked for, one more for each line of standard input. */
export async function wordsFrom(words: readonly string[], stdin: boolean | undefined): Promise<string[]> {
  if (!stdin) return [...words]
  const lines = (await text(process.stdin)).split('\n')
  return [...words, ...lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')]
}
