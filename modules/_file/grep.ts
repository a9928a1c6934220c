import { type Context, SaltInvocationError } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import { type Outcome, runProgram } from '../_program/run.ts'
import { expandHome, glob, statOf } from './paths.ts'

/** Run grep(1) on the files that a shell pattern matches. */
export async function grepFiles(
  given: string,
  pattern: string,
  opts: readonly unknown[],
  context: Context,
): Promise<Outcome> {
  const path = await expandHome(given)
  const found = await glob(path)
  const options = opts.flatMap((opt) => {
    const words = splitWords(String(opt))
    if (words.length <= 1) return words
    throw new SaltInvocationError(
      `Passing multiple command line arguments in a single string is not supported, please pass the following arguments separately: ${opt}`,
    )
  })
  const files = await readable(found)
  if (found.length > 0 && files.length === 0)
    throw new SaltInvocationError(`${path} is no file or folder that ends; it is not searched`)
  // A pattern of its own would be added to one that an option gives, such as `-e` or `-f`.
  const wanted = pattern.startsWith('-') ? ['-e', pattern] : [pattern]
  return runProgram(['grep', ...options, ...wanted, '--', ...(files.length > 0 ? files : [path])], context)
}

/** Leave pipes, devices and sockets out, of which grep may never see the end. */
async function readable(paths: readonly string[]): Promise<string[]> {
  const kinds = await Promise.all(paths.map(statOf))
  return paths.filter((_, at) => kinds[at]?.isFile() || kinds[at]?.isDirectory())
}
