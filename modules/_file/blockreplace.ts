import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { inTurn } from '../_lock/in-turn.ts'
import { fedLinesOf, unifiedDiff } from './diff.ts'
import { expandHome } from './paths.ts'
import { searchFor } from './patterns.ts'
import { editText, keepCopy, writeContent } from './text.ts'

export interface BlockOptions {
  readonly marker_start: string
  readonly marker_end: string
  readonly content: string
  readonly append_if_not_found: boolean
  readonly prepend_if_not_found: boolean
  readonly backup: string | false
  readonly dry_run: boolean
  readonly show_changes: boolean
  readonly append_newline: boolean | null
  readonly insert_before_match?: string | undefined
  readonly insert_after_match?: string | undefined
}

/** Replace the text between two marker lines, and return the diff, or whether something changed. */
export async function replaceBlock(
  given: string,
  options: BlockOptions,
  context: Context,
): Promise<string | boolean> {
  refuseSeveralPlaces(options)
  const path = await expandHome(given)
  return inTurn(path, context, () => editBlock(path, options))
}

function editBlock(path: string, options: BlockOptions): Promise<string | boolean> {
  const missing = new SaltInvocationError(`File not found: ${path}`)
  return editText(
    path,
    async ({ place, text, encoding }) => {
      const before = fedLinesOf(text)
      const after = withBlock(before, options)
      const changed = after.join('')
      const diff = options.show_changes ? unifiedDiff(before, after) : ''
      if (changed !== text && !options.dry_run) {
        if (options.backup !== false) await keepCopy(place, options.backup)
        await writeContent(place, changed, { encoding })
      }
      return options.show_changes ? diff : changed !== text
    },
    { missing },
  )
}

function refuseSeveralPlaces(options: BlockOptions): void {
  const { append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match } = options
  const places = [append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match]
  if (places.filter(Boolean).length > 1)
    throw new SaltInvocationError(
      'Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and insert_after_match is permitted',
    )
}

function withBlock(lines: readonly string[], options: BlockOptions): string[] {
  const lineEnd = lines[0]?.endsWith('\r\n') ? '\r\n' : '\n'
  const replaced = replaceBetween(lines, options, lineEnd)
  if (replaced) return replaced
  const block = [`${options.marker_start}${lineEnd}`, ...body(options, lineEnd)]
  if (options.prepend_if_not_found) return [...block, ...lines]
  if (options.append_if_not_found) return [...ended(lines, lineEnd), ...block]
  const pattern = options.insert_before_match || options.insert_after_match
  const at = pattern ? searchFor(pattern).foundIn(lines).indexOf(true) : -1
  if (at < 0) throw new CommandExecutionError('Cannot edit marked block. Markers were not found in file.')
  return lines.toSpliced(options.insert_after_match ? at + 1 : at, 0, ...block)
}

const ended = (lines: readonly string[], lineEnd: string): string[] =>
  lines.map((line, index) => (index === lines.length - 1 && !line.endsWith(lineEnd) ? line + lineEnd : line))

/** Replace what is between the markers; undefined if they are not there. */
function replaceBetween(lines: readonly string[], options: BlockOptions, lineEnd: string) {
  const result: string[] = []
  let inBlock = false
  let found = false
  for (const line of lines) {
    if (line.includes(options.marker_start)) {
      inBlock = true
      result.push(line)
      continue
    }
    if (!inBlock) {
      result.push(line)
      continue
    }
    const end = line.indexOf(options.marker_end)
    if (end < 0) continue
    result.push(...body(options, lineEnd, line.slice(end)))
    inBlock = false
    found = true
  }
  if (inBlock)
    throw new CommandExecutionError('Unterminated marked block. End of file reached before marker_end.')
  return found ? result : undefined
}

/** The lines of the block after its first marker. Without a line end of its own the content shares a line with the end marker. */
function body({ content, append_newline, marker_end }: BlockOptions, lineEnd: string, endLine = marker_end) {
  const lines = content.split(/\r?\n/)
  const last = lines.pop() as string
  const end = endLine.replace(/[\r\n]+$/, '') + lineEnd
  const separate = append_newline ?? !content.endsWith('\n')
  return [...lines.map((line) => line + lineEnd), ...(separate ? [last + lineEnd, end] : [last + end])]
}
