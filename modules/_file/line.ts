import { CommandExecutionError, type Context } from 'salt-ts'
import { inTurn } from '../_lock/in-turn.ts'
import { linesOf, unifiedDiff } from './diff.ts'
import { expandHome, isFile } from './paths.ts'
import { searchFor } from './patterns.ts'
import { realPath } from './stats.ts'
import { type EditedText, editText, keepCopy, writeContent } from './text.ts'

export interface LineOptions {
  readonly content?: string | undefined
  readonly match?: string | undefined
  readonly mode?: string | undefined
  readonly location?: string | undefined
  readonly before?: string | undefined
  readonly after?: string | undefined
  readonly show_changes: boolean
  readonly backup: boolean | string
  readonly quiet: boolean
  readonly indent: boolean
}

/** Edit one line of a file, and return the diff, or whether something changed. */
export async function editLine(given: string, options: LineOptions, context: Context) {
  const path = await expandHome(given)
  if (!(await isFile(path))) {
    if (options.quiet) return false
    throw new CommandExecutionError(`File "${await realPath(path)}" does not exists or is not a file.`)
  }
  const mode = checkedMode(options)
  return inTurn(path, context, () =>
    editText(path, (edited) => changeLine(edited, mode, options, context), { anyContent: true }),
  )
}

async function changeLine(
  { place, text, encoding }: EditedText,
  mode: string,
  options: LineOptions,
  { opts, log }: Context,
) {
  if (text === '' && (mode === 'delete' || mode === 'replace'))
    log.warn(`Cannot find text to ${mode}. File '${place.path}' is empty.`)
  const lines = linesOf(text)
  const edited = withLineEnds(edit(/[\r\n]$/.test(text) ? [...lines, ''] : lines, mode, options))
  const changed = edited.join('') !== text
  const diff = changed && options.show_changes ? unifiedDiff(lines, edited) : ''
  if (changed && opts.test !== true) {
    if (options.backup) await keepCopy(place, `.${timestamp(new Date())}`)
    await writeContent(place, edited.join(''), { encoding })
  }
  return diff || changed
}

function checkedMode({ mode, content }: LineOptions): string {
  const lower = mode?.toLowerCase()
  if (!lower) throw new CommandExecutionError('Mode was not defined. How to process the file?')
  if (!['insert', 'ensure', 'delete', 'replace'].includes(lower))
    throw new CommandExecutionError(`Unknown mode: "${lower}"`)
  if (lower !== 'delete' && content === undefined)
    throw new CommandExecutionError('Content can only be empty if mode is "delete"')
  return lower
}

function timestamp(time: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return [
    time.getFullYear(),
    ...[time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes(), time.getSeconds()].map(two),
  ].join('-')
}

/** The lines that an anchor of the caller matches, as a pattern or as plain text; undefined without an anchor. */
function matching(lines: readonly string[], anchor: string | undefined): string[] | undefined {
  if (lines.length === 0 || !anchor) return undefined
  const found = searchFor(anchor, 's').foundIn(lines)
  return lines.filter((line, at) => found[at] || line.includes(anchor))
}

function edit(lines: readonly string[], mode: string, options: LineOptions): string[] {
  const { content = '', indent, location } = options
  const wanted = options.match || (options.before === undefined && options.after === undefined ? content : '')
  if (mode === 'delete' || mode === 'replace') {
    const match = matching(lines, wanted)?.[0]
    if (match === undefined) return [...lines]
    if (mode === 'delete') return lines.filter((line) => line !== match)
    const at = lines.indexOf(match)
    return lines.with(at, indented(match, content, indent))
  }
  const anchors = {
    before: matching(lines, options.before),
    after: matching(lines, options.after),
  }
  if (mode === 'ensure') return ensure(lines, anchors, content, indent)
  if (!anchors.before && !anchors.after && !location)
    throw new CommandExecutionError('On insert either "location" or "before/after" conditions are required.')
  if (location === 'end') return atEnd(lines, content, indent)
  if (location === 'start')
    return lines.length > 0 ? [withEndOf(lines[0], content), ...lines] : [`${content}\n`]
  if (location) return [...lines]
  return insert(lines, anchors, content, indent)
}

interface Anchors {
  readonly before: string[] | undefined
  readonly after: string[] | undefined
}

const atEnd = (lines: readonly string[], content: string, indent: boolean): string[] => [
  ...lines,
  lines.length > 0 ? indented(lines.at(-1) as string, content, indent) : content,
]

function insert(lines: readonly string[], { before, after }: Anchors, content: string, indent: boolean) {
  if (before?.length && after?.length) {
    only(before, 'before')
    only(after, 'after')
    const at = lines.indexOf(before[0] as string)
    return lines.toSpliced(at, 0, indented(lines[at] as string, content, indent))
  }
  if (after?.length) return insertAfter(lines, only(after, 'after'), content, indent)
  if (!before?.length) throw new CommandExecutionError('Neither before or after was found in file')
  const at = lines.indexOf(only(before, 'before'))
  const previous = lines.at(at - 1) as string
  if (sameLine(previous, content)) return [...lines]
  return lines.toSpliced(at, 0, indented(lines[at] as string, content, indent))
}

function ensure(lines: readonly string[], { before, after }: Anchors, content: string, indent: boolean) {
  if (before?.length && after?.length)
    return ensureBetween(lines, only(after, 'after'), only(before, 'before'), content, indent)
  if (before?.length) {
    const at = lines.indexOf(only(before, 'before'))
    if (at > 0 && sameLine(lines[at - 1] as string, content)) return [...lines]
    return lines.toSpliced(at, 0, indented(lines.at(at - 1) as string, content, indent))
  }
  if (after?.length) return insertAfter(lines, only(after, 'after'), content, indent)
  throw new CommandExecutionError(
    'Wrong conditions? Unable to ensure line without knowing where to put it before and/or after.',
  )
}

function ensureBetween(
  lines: readonly string[],
  after: string,
  before: string,
  content: string,
  indent: boolean,
) {
  if (lines.some((line) => line.trimStart().replace(/[\r\n]+$/, '') === content.trimEnd())) return [...lines]
  const start = lines.indexOf(after)
  const between = lines.indexOf(before) - start - 1
  if (between !== 0 && between !== 1)
    throw new CommandExecutionError('Found more than one line between boundaries "before" and "after".')
  return lines.toSpliced(start + 1, between, indented(after, content, indent))
}

function insertAfter(lines: readonly string[], anchor: string, content: string, indent: boolean): string[] {
  const at = lines.indexOf(anchor)
  const next = lines[at + 1]
  if (next !== undefined && sameLine(next, content)) return [...lines]
  return lines.toSpliced(at + 1, 0, indented(anchor, content, indent))
}

/** The one line of an anchor; fails if several match. */
function only(found: readonly string[], name: string): string {
  if (found.length === 1) return found[0] as string
  throw new CommandExecutionError(`Found more than expected occurrences in "${name}" expression`)
}

const withoutEnd = (line: string): string => line.replace(/[\r\n]+$/, '')
const sameLine = (line: string, content: string): boolean => withoutEnd(line) === withoutEnd(content)

function indented(model: string, line: string, indent: boolean): string {
  return indent ? (/^[\t ]*/.exec(model)?.[0] ?? '') + line.trimStart() : line
}

const endOf = (line: string | undefined): string => /(?:\r\n|\n|\r)$/.exec(line ?? '')?.[0] ?? ''
const withEndOf = (model: string | undefined, line: string): string => line.trimEnd() + (endOf(model) || '\n')

/** Give each line but the last the line end of a neighbour, if it has none, and drop the empty last one. */
function withLineEnds(lines: readonly string[]): string[] {
  const result = [...lines]
  result.forEach((line, index) => {
    if (endOf(line) === '' && index + 1 < result.length)
      result[index] = withEndOf(result[index > 0 ? index - 1 || 1 : 1], line)
  })
  if (result.at(-1) === '') result.pop()
  return result
}
