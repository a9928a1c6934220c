import { readFile, writeFile } from 'node:fs/promises'
import { SaltError } from '../../base/errors.ts'

/**
 * Write a file that salt-ts generates, unless it has this text already. Returns what was done, for the sentence about it. Rejects
 * if somebody else wrote a file of that name, which does not begin with `header`.
 */
export async function writeGenerated(file: string, header: string, text: string): Promise<string> {
  const old = await readFile(file, 'utf8').catch(() => undefined)
  if (old === text) return `${file} is current`
  if (old !== undefined && !old.startsWith(header))
    throw new SaltError('INVOCATION', `${file} was not written by salt-ts types; rename it first.`, { file })
  await writeFile(file, text)
  return `${file} written`
}
