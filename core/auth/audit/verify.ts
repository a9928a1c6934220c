import type { AuditReport } from '../../author/master.ts'
import { messageOf } from '../../base/errors.ts'
import type { ChainEnd } from './file.ts'
import { auditFiles, linesOf, type StoredLine } from './history.ts'
import type { AuditLine } from './line.ts'

/** A line that was noted elsewhere, from the output of `audit.verify`. */
export interface KnownLine {
  readonly since?: number | undefined
  readonly hash?: string | undefined
}

/** Maximum number of problems that are reported; all are counted. */
const MAX_PROBLEMS = 100

interface Place {
  readonly seq: number
  readonly hash: string
}

/**
 * Verify an audit log from its oldest file to its end. `end` is the end of the chain as the writers stored it, read beforehand; it
 * reveals lines that were cut off at the end. Somebody who can write the files of this host can rewrite the whole log, which only an
 * anchor noted elsewhere reveals.
 */
export async function verifyAudit(
  path: string,
  end: ChainEnd | undefined,
  anchor: KnownLine = {},
): Promise<AuditReport> {
  const { files, unread } = await auditFiles(path)
  const chain = new Chain()
  const marks = [...markOf(end), ...markOf(anchor)]
  const counts: Record<string, number> = {}
  for (const file of files) {
    counts[file] = 0
    try {
      for await (const found of linesOf(file)) {
        const line = chain.take(found, file === path)
        if (found.finished) counts[file]++
        if (line) for (const mark of marks) mark.meet(line)
      }
    } catch (error) {
      chain.problems.push(`${file} cannot be read: ${messageOf(error)}.`)
    }
  }
  const { first, last, notes } = chain
  const problems = [
    ...chain.problems,
    ...marks.flatMap((mark) => mark.problem(last)),
    ...(end?.leftOut ? [`After the last line, ${end.leftOut} lines could not be written.`] : []),
  ]
  const earlier = first && first.seq > 1 ? [`It begins with line seq ${first.seq}: ${earlierOf(first)}.`] : []
  const packed = unread.map(
    (file) => `${file} has a compression that is not supported. Decompress it to verify it.`,
  )
  return {
    valid: problems.length === 0,
    lines: Object.values(counts).reduce((sum, count) => sum + count, 0),
    files: counts,
    ...(last && { last: { seq: last.seq, hash: last.hash, time: String(last.members.time) } }),
    problems: shortened(problems),
    notes: [...earlier, ...notes, ...packed],
  }
}

const earlierOf = ({ seq }: AuditLine): string =>
  seq === 2 ? 'the one before it is in no file here' : `the ${seq - 1} before it are in no file here`

const shortened = (problems: readonly string[]): readonly string[] =>
  problems.length <= MAX_PROBLEMS
    ? problems
    : [...problems.slice(0, MAX_PROBLEMS), `… and ${problems.length - MAX_PROBLEMS} more.`]

/** Follows the lines in the order of the files and collects problems. */
class Chain {
  first: AuditLine | undefined
  last: AuditLine | undefined
  readonly problems: string[] = []
  readonly notes: string[] = []
  #before: Place | undefined
  /** Whether the previous line was unreadable, which is reported already. */
  #broken = false
  /** Hashes and seqs of lines whose seq an earlier line had: one of the two was inserted. */
  #rivals = new Map<string, number>()

  take({ path, number, line, finished }: StoredLine, isCurrent: boolean): AuditLine | undefined {
    const at = `${path} line ${number}`
    if (!finished && isCurrent) {
      this.notes.push(`${at} is unfinished. The next write to the log repairs that.`)
      return undefined
    }
    if (!line) return this.#wrong(`${at} is not a line of an audit log.`)
    const place = `${at} (seq ${line.seq})`
    const before = this.#before
    if (!line.whole) {
      this.#before = { seq: before ? before.seq + 1 : line.seq, hash: line.hash }
      this.problems.push(`${place} was changed: its hash does not match its text.`)
      this.#broken = false
      return undefined
    }
    if (before && line.seq <= before.seq) {
      this.#rivals.set(line.hash, line.seq)
      this.problems.push(
        `${place} is out of place: it follows line seq ${before.seq}. It was moved, or one of the two was inserted.`,
      )
      return undefined
    }
    if (before) this.#follows(place, line, before)
    const { left_out } = line.members
    if (line.members.act === 'log' && typeof left_out === 'number')
      this.problems.push(`Before ${place}, ${left_out} lines could not be written.`)
    this.#broken = false
    this.#before = line
    this.first ??= line
    this.last = line
    return line
  }

  #follows(place: string, line: AuditLine, before: Place): void {
    const missing = line.seq - before.seq - 1
    if (missing > 0 && !(this.#broken && missing === 1)) {
      const which =
        missing === 1 ? `line seq ${line.seq - 1} is` : `lines seq ${before.seq + 1} to ${line.seq - 1} are`
      this.problems.push(`Before ${place}, ${which} missing.`)
    }
    if (missing > 0 || line.prev === before.hash || this.#rivals.get(line.prev) === before.seq) return
    this.problems.push(
      `${place} does not follow from line seq ${before.seq}: one of the two was replaced, or a new log was begun.`,
    )
  }

  #wrong(problem: string): undefined {
    this.problems.push(problem)
    this.#broken = true
  }
}

/** A line that must exist. */
class Mark {
  readonly #seq: number | undefined
  readonly #hash: string | undefined
  readonly #known: string
  #met: AuditLine | undefined

  constructor({ since, hash }: KnownLine, known: string) {
    this.#seq = since
    this.#hash = hash
    this.#known = known
  }

  meet(line: AuditLine): void {
    if (this.#seq === undefined ? line.hash === this.#hash : line.seq === this.#seq) this.#met = line
  }

  problem(last: AuditLine | undefined): string[] {
    const what = this.#seq === undefined ? `The line with the hash ${this.#hash}` : `Line seq ${this.#seq}`
    if (!this.#met) {
      const end = last ? `the log ends with line seq ${last.seq}` : 'the log is empty'
      return [`${what}, ${this.#known}, is missing: ${end}.`]
    }
    if (this.#hash === undefined || this.#met.hash === this.#hash) return []
    return [`${what} is not the one ${this.#known}: its hash is ${this.#met.hash}, not ${this.#hash}.`]
  }
}

function markOf(noted: ChainEnd | KnownLine | undefined): Mark[] {
  if (!noted) return []
  if ('size' in noted)
    return noted.seq === 0 ? [] : [new Mark({ since: noted.seq, hash: noted.hash }, 'which was the last one')]
  return noted.since === undefined && noted.hash === undefined ? [] : [new Mark(noted, 'that was noted')]
}
