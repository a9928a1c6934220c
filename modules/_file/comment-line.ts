import { SaltInvocationError } from 'salt-ts'
import { pythonSearch } from '#internal'
import { unifiedDiff } from './diff.ts'
import { expandHome, isFile } from './paths.ts'
import { realPath } from './stats.ts'
import { keepCopy, readEditable, writeContent } from './text.ts'

/** Comment or uncomment the lines that a pattern matches; returns the diff of these lines, or false without a match. */
export async function commentLines(
  given: string,
  pattern: string,
  { char, comment, backup }: { char: string; comment: boolean; backup: string | false },
): Promise<string | false> {
  const path = await realPath(await expandHome(given))
  if (!(await isFile(path))) throw new SaltInvocationError(`File not found: ${path}`)
  const { text, encoding } = await readEditable(path)
  const search = pythonSearch(comment ? toComment(pattern) : toUncomment(pattern, char))
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const matched = lines.filter((line) => search.begins(line))
  if (matched.length === 0) return false
  const change = (line: string) => (comment ? char + line : withoutLeading(line, char))
  if (backup) await keepCopy(path, `${path}${backup}`)
  const changed = lines.map((line) => (search.begins(line) ? change(line) : line))
  await writeContent(path, changed.join(''), { encoding })
  return unifiedDiff(matched, matched.map(change))
}

const core = (pattern: string): string => `(${pattern.replace(/^\^+/, '').replace(/\$+$/, '')})`
const end = (pattern: string): string => (pattern.endsWith('$') ? '$' : '')

const toComment = (pattern: string): string =>
  `${pattern.startsWith('^') ? '^' : ''}${core(pattern)}${end(pattern)}`

const toUncomment = (pattern: string, char: string): string => `^${char}\\s*${core(pattern)}${end(pattern)}`

/** Remove all characters of a set from the beginning, as Python's `lstrip`. */
function withoutLeading(line: string, characters: string): string {
  let from = 0
  while (from < line.length && characters.includes(line[from] as string)) from++
  return line.slice(from)
}
