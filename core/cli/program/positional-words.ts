import { text } from 'node:stream/consumers'
import type { ParserOutput } from '@oclif/core/interfaces'

/**
 * Return the words of the command line that belong to no flag, as they were typed, and with `stdin` one more per line
 * of standard input. The words come from the tokens, since oclif's `argv` moves equal words together.
 */
export async function positionalWords(
  typed: ParserOutput['raw'],
  stdin: boolean | undefined,
): Promise<string[]> {
  const words = typed.filter(({ type }) => type === 'arg').map(({ input }) => input)
  if (!stdin) return words
  const lines = (await text(process.stdin)).split('\n')
  return [...words, ...lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== '')]
}
