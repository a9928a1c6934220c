/** Unified diffs as Python's difflib writes them, which Salt returns for changes of a file. */
import { SaltInvocationError } from 'salt-ts'

interface Match {
  readonly a: number
  readonly b: number
  readonly size: number
}
type Tag = 'equal' | 'replace' | 'delete' | 'insert'
interface Opcode {
  readonly tag: Tag
  readonly a1: number
  readonly a2: number
  readonly b1: number
  readonly b2: number
}

const CONTEXT_LINES = 3
/** From this many lines on, lines that are more than 1 % of all are no anchors. */
const MANY_LINES = 200
/** From this many characters on, only what lies between the first difference and the last one is compared. */
const LONG_CHARACTERS = 2 ** 20
/** Number of lines that are looked at for equal ones, until what is left counts as changed. */
const MAX_LOOKS = 3_000_000
/** Above it lines are not compared, which would take the memory of the host. */
const MAX_LINES = 2_000_000

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** Split a text after each line end, as Python's `splitlines(True)` for `\n`, `\r\n` and `\r`. */
export const linesOf = (text: string): string[] =>
  text.includes('\r') ? (text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? []) : fedLinesOf(text)

/** Split a text after each line feed. */
export function fedLinesOf(text: string): string[] {
  const lines: string[] = []
  let from = 0
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
    lines.push(text.slice(from, end + 1))
    from = end + 1
  }
  if (from < text.length) lines.push(text.slice(from))
  return lines
}

/** Return the unified diff of two texts, as {@link unifiedDiff} does of their lines. */
export function textDiff(before: string, after: string, names = ['', '']): string {
  if (before === after) return ''
  if (before.length + after.length < LONG_CHARACTERS)
    return unifiedDiff(linesOf(before), linesOf(after), names)
  const { start, end } = sharedEnds(before, after)
  const differing = [before, after].map((text) => text.slice(start, text.length - end))
  if (differing.some((text) => countLineEnds(text) > MAX_LINES)) throw tooManyLines()
  const [old = [], next = []] = differing.map(linesOf)
  return unifiedDiff(old, next, names, countLineEnds(before.slice(0, start)))
}

/** Find the lines at both ends of two texts that are equal and need not be shown, in characters. */
function sharedEnds(before: string, after: string) {
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++
  for (let line = 0; line <= CONTEXT_LINES; line++)
    start = start < 2 ? 0 : before.lastIndexOf('\n', start - 2) + 1
  let end = 0
  const isShared = () =>
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  while (end < shorter - start && isShared()) end++
  let from = before.length - end
  for (let line = 0; line <= CONTEXT_LINES; line++) {
    const feed = before.indexOf('\n', from)
    if (feed < 0) return { start, end: 0 }
    from = feed + 1
  }
  return { start, end: before.length - from }
}

function countLineEnds(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === LINE_FEED || (code === CARRIAGE_RETURN && text.charCodeAt(at + 1) !== LINE_FEED)) count++
  }
  return count
}

const tooManyLines = () =>
  new SaltInvocationError(
    `The changes are too many to show: more than ${MAX_LINES} lines would have to be compared. Nothing was changed. Call again with show_changes=False, or use file.sed`,
  )

/**
 * Return the unified diff of two lists of lines; empty if they are equal. Only the last line of the diff
 * may have no line end. `start` lines come before them.
 * @throws SaltInvocationError if they are too many to be compared
 */
export function unifiedDiff(
  before: readonly string[],
  after: readonly string[],
  names = ['', ''],
  start = 0,
): string {
  if (Math.max(before.length, after.length) > MAX_LINES) throw tooManyLines()
  const groups = groupsOf(opcodes(before, after))
  if (groups.length === 0) return ''
  const rows = [`--- ${names[0]}\n`, `+++ ${names[1]}\n`]
  for (const group of groups) for (const row of hunk(group, { before, after, start })) rows.push(row)
  const isEnded = (row: string, at: number) => at === rows.length - 1 || /[\r\n]$/.test(row)
  return rows.map((row, at) => (isEnded(row, at) ? row : `${row}\n`)).join('')
}

interface Sides {
  readonly before: readonly string[]
  readonly after: readonly string[]
  /** How many lines come before them. */
  readonly start: number
}

function hunk(group: readonly Opcode[], { before, after, start }: Sides): string[] {
  const first = group[0] as Opcode
  const last = group.at(-1) as Opcode
  const lines = group.flatMap(({ tag, a1, a2, b1, b2 }) =>
    tag === 'equal'
      ? before.slice(a1, a2).map((line) => ` ${line}`)
      : [...before.slice(a1, a2).map((line) => `-${line}`), ...after.slice(b1, b2).map((line) => `+${line}`)],
  )
  const place = (from: number, to: number) => range(start + from, start + to)
  return [`@@ -${place(first.a1, last.a2)} +${place(first.b1, last.b2)} @@\n`].concat(lines)
}

function range(start: number, stop: number): string {
  const length = stop - start
  if (length === 1) return String(start + 1)
  return `${length === 0 ? start : start + 1},${length}`
}

function groupsOf(codes: readonly Opcode[]): Opcode[][] {
  const trimmed = codes.map((code, index) => {
    if (code.tag !== 'equal') return code
    if (index === 0)
      return {
        ...code,
        a1: Math.max(code.a1, code.a2 - CONTEXT_LINES),
        b1: Math.max(code.b1, code.b2 - CONTEXT_LINES),
      }
    if (index === codes.length - 1)
      return {
        ...code,
        a2: Math.min(code.a2, code.a1 + CONTEXT_LINES),
        b2: Math.min(code.b2, code.b1 + CONTEXT_LINES),
      }
    return code
  })
  const groups: Opcode[][] = []
  let group: Opcode[] = []
  for (const code of trimmed) {
    if (code.tag === 'equal' && code.a2 - code.a1 > 2 * CONTEXT_LINES) {
      group.push({ ...code, a2: code.a1 + CONTEXT_LINES, b2: code.b1 + CONTEXT_LINES })
      groups.push(group)
      group = [{ ...code, a1: code.a2 - CONTEXT_LINES, b1: code.b2 - CONTEXT_LINES }]
    } else group.push(code)
  }
  return [...groups, group].filter((each) => each.some(({ tag }) => tag !== 'equal'))
}

function opcodes(before: readonly string[], after: readonly string[]): Opcode[] {
  const codes: Opcode[] = []
  let a = 0
  let b = 0
  const end: Match = { a: before.length, b: after.length, size: 0 }
  for (const match of [...matchingBlocks(before, after), end]) {
    const tag = a < match.a ? (b < match.b ? 'replace' : 'delete') : b < match.b ? 'insert' : undefined
    if (tag) codes.push({ tag, a1: a, a2: match.a, b1: b, b2: match.b })
    a = match.a + match.size
    b = match.b + match.size
    if (match.size > 0) codes.push({ tag: 'equal', a1: match.a, a2: a, b1: match.b, b2: b })
  }
  return codes
}

/** Return the equal stretches in order, adjacent ones joined; not all of them where the search takes too long. */
function matchingBlocks(before: readonly string[], after: readonly string[]): Match[] {
  const anchors = anchorsOf(after)
  const open: [number, number, number, number][] = [[0, before.length, 0, after.length]]
  const found: Match[] = []
  let looks = 0
  for (let next = open.pop(); next && looks < MAX_LOOKS; next = open.pop()) {
    const [a1, a2, b1, b2] = next
    looks += a2 - a1
    const match = longestMatch(before, after, anchors, next)
    if (match.size === 0) continue
    found.push(match)
    if (a1 < match.a && b1 < match.b) open.push([a1, match.a, b1, match.b])
    if (match.a + match.size < a2 && match.b + match.size < b2)
      open.push([match.a + match.size, a2, match.b + match.size, b2])
  }
  return joined(found.sort((one, other) => one.a - other.a || one.b - other.b))
}

function joined(matches: readonly Match[]): Match[] {
  const result: Match[] = []
  for (const match of matches) {
    const last = result.at(-1)
    if (last && last.a + last.size === match.a && last.b + last.size === match.b)
      result[result.length - 1] = { ...last, size: last.size + match.size }
    else result.push(match)
  }
  return result
}

/** Return the positions of each line that may anchor a match. */
function anchorsOf(lines: readonly string[]): Map<string, number[]> {
  const anchors = new Map<string, number[]>()
  lines.forEach((line, index) => {
    const known = anchors.get(line)
    if (known) known.push(index)
    else anchors.set(line, [index])
  })
  if (lines.length < MANY_LINES) return anchors
  const limit = Math.floor(lines.length / 100) + 1
  for (const [line, places] of anchors) if (places.length > limit) anchors.delete(line)
  return anchors
}

function longestMatch(
  before: readonly string[],
  after: readonly string[],
  anchors: ReadonlyMap<string, readonly number[]>,
  [a1, a2, b1, b2]: readonly [number, number, number, number],
): Match {
  let [a, b, size]: [number, number, number] = [a1, b1, 0]
  let lengths = new Map<number, number>()
  for (let i = a1; i < a2; i++) {
    const next = new Map<number, number>()
    for (const j of anchors.get(before[i] as string) ?? []) {
      if (j < b1) continue
      if (j >= b2) break
      const length = (lengths.get(j - 1) ?? 0) + 1
      next.set(j, length)
      if (length > size) [a, b, size] = [i - length + 1, j - length + 1, length]
    }
    lengths = next
  }
  while (a > a1 && b > b1 && before[a - 1] === after[b - 1]) [a, b, size] = [a - 1, b - 1, size + 1]
  while (a + size < a2 && b + size < b2 && before[a + size] === after[b + size]) size++
  return { a, b, size }
}
