/**
 * Regular expressions in Python's dialect, as users write them for Salt. V8 runs them, with a guard against endless
 * backtracking: a pattern whose estimated work (see `isQuick`) is small is run directly; any other has a deadline of 100 ms,
 * enforced by V8's own interrupt (`vm` with a timeout, which takes 0.13 ms a call). A pattern that misses the deadline is
 * refused for a minute. An attempt that got little processor time, on a busy host, does not count.
 */
import type { SaltError } from '../base/errors.ts'
import { beforeDeadline, isQuick, unlessTooLarge } from './bounded-regexp.ts'
import { invalidPatternError, translate } from './python-regexp-syntax.ts'

const MAX_PATTERN_LENGTH = 65_536
const MAX_TEXT_LENGTH = 65_536
const DEADLINE_MS = 100
const REFUSED_MS = 60_000
/** An attempt in which this process had the processor for less than this part of the time is repeated. */
const MIN_PROCESSOR_SHARE = 0.5
const MAX_ATTEMPTS = 10
const MAX_COMPILED = 200

/** Time in milliseconds that further matches of the running work may take together; undefined without a limit. */
let remainingMs: number | undefined

/**
 * Do work, and limit the time that all its matches take together; then further matches are refused. Each match has a deadline of its own,
 * but a target may have a thousand expressions, and is matched with every minion.
 */
export function withMatchBudget<T>(ms: number, work: () => T): T {
  if (remainingMs !== undefined) return work()
  remainingMs = ms
  try {
    return work()
  } finally {
    remainingMs = undefined
  }
}

export interface PythonRegExp {
  /**
   * Whether the text begins with a match, as Python's `re.match`; with `whole`, whether all of it matches.
   * @throws SaltError TARGET_INVALID if that cannot be decided in time
   */
  matches(text: string): boolean
}

const compiled = new Map<string, PythonRegExp>()

/**
 * Compile a pattern of Python's `re` module.
 * @throws SaltError TARGET_INVALID with the reason and position
 */
export function pythonRegExp(
  pattern: string,
  { ignoreCase = false, whole = false }: { readonly ignoreCase?: boolean; readonly whole?: boolean } = {},
): PythonRegExp {
  const key = `${ignoreCase ? 'i' : ' '}${whole ? 'w' : ' '}${pattern}`
  const known = compiled.get(key)
  if (known) return known
  const made = compile(pattern, ignoreCase, whole)
  if (compiled.size >= MAX_COMPILED) compiled.clear()
  compiled.set(key, made)
  return made
}

function compile(pattern: string, ignoreCase: boolean, whole: boolean): PythonRegExp {
  if (pattern.length > MAX_PATTERN_LENGTH)
    throw invalidPatternError(pattern, `it is longer than ${MAX_PATTERN_LENGTH} characters`)
  const translated = translate(pattern, ignoreCase, whole)
  const { expression } = translated
  let refusedUntil = 0
  return {
    matches(text) {
      if (remainingMs === undefined) return matchesWithin(text)
      if (remainingMs <= 0)
        throw invalidPatternError(pattern, 'the expressions take too long together; write simpler ones')
      const started = performance.now()
      try {
        return matchesWithin(text)
      } finally {
        remainingMs -= performance.now() - started
      }
    },
  }

  function matchesWithin(text: string): boolean {
    if (text.length > MAX_TEXT_LENGTH)
      throw invalidPatternError(pattern, `the text to match is longer than ${MAX_TEXT_LENGTH} characters`)
    // An attempt that was interrupted may have moved on.
    const test = () => {
      expression.lastIndex = 0
      return unlessTooLarge(pattern, () => expression.test(text))
    }
    if (isQuick(translated, text.length)) return test()
    if (performance.now() < refusedUntil) throw tooSlow(pattern)
    const answer = decided(test)
    if (answer !== undefined) return answer
    refusedUntil = performance.now() + REFUSED_MS
    throw tooSlow(pattern)
  }
}

/** Return the result of `run`, or undefined if it missed the deadline although it had the processor. */
function decided<T>(run: () => T): T | undefined {
  for (let attempt = 1; ; attempt++) {
    const before = process.cpuUsage()
    const result = beforeDeadline<T | undefined>(DEADLINE_MS, run, () => undefined)
    const { user, system } = process.cpuUsage(before)
    if (result !== undefined || attempt === MAX_ATTEMPTS) return result
    if (user + system >= DEADLINE_MS * MIN_PROCESSOR_SHARE * 1000) return undefined
  }
}

function tooSlow(pattern: string): SaltError {
  return invalidPatternError(
    pattern,
    `it takes longer than ${DEADLINE_MS} ms on one text; write it without nested repetition`,
  )
}
