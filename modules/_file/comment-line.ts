import { type Context, SaltInvocationError } from 'salt-ts'
import { inTurn } from '../_lock/in-turn.ts'
import { fedLinesOf, unifiedDiff } from './diff.ts'
import { expandHome } from './paths.ts'
import { searchFor } from './patterns.ts'
import { realPath } from './stats.ts'
import { editText, keepCopy, writeContent } from './text.ts'

interface CommentOptions {
  readonly char: string
  readonly comment: boolean
  readonly backup: string | false
}

/** Comment or uncomment the lines that a pattern matches; returns the diff of these lines, or false without a match. */
export async function commentLines(
  given: string,
  pattern: string,
  options: CommentOptions,
  context: Context,
): Promise<string | false> {
  const path = await expandHome(given)
  return inTurn(path, context, () => editComments(path, pattern, options))
}

async function editComments(
  path: string,
  pattern: string,
  { char, comment, backup }: CommentOptions,
): Promise<string | false> {
  const missing = new SaltInvocationError(`File not found: ${await realPath(path)}`)
  return editText(
    path,
    async ({ place, text, encoding }) => {
      const search = searchFor(comment ? toComment(pattern) : toUncomment(pattern, char))
      const lines = fedLinesOf(text)
      const matched = search.beginsIn(lines)
      if (!matched.includes(true)) return false
      const change = (line: string) => (comment ? char + line : withoutLeading(line, char))
      const changed = lines.map((line, at) => (matched[at] ? change(line) : line))
      const only = (rows: readonly string[]) => rows.filter((_, at) => matched[at])
      const diff = unifiedDiff(only(lines), only(changed))
      if (backup) await keepCopy(place, backup)
      await writeContent(place, changed.join(''), { encoding })
      return diff
    },
    { missing },
  )
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
