import { text } from 'node:stream/consumers'
import type { ParserOutput } from '@oclif/core/interfaces'

/**
 * The words of the command line that belong to no flag, as they were typed, and, if asked for, one more for each line of
 * standard input. They are taken from the tokens, since oclif's `argv` puts equal words beside each other.
 */
export async function wordsFrom(typed: ParserOutput['raw'], stdin: boolean | undefined): Promise<string[]> {
  const words = typed.filter(({ type }) => type === 'arg').map(({ input }) => input)
  if (!stdin) return words
  const lines = (await text(process.stdin)).split('\n')
  return [...words, ...lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')]
}
