/** Bounds within which V8 runs the regular expressions of users. */
import { createContext, Script } from 'node:vm'
import { invalidPatternError, type Translated } from './python-regexp-syntax.ts'

const STEPS_WITHOUT_DEADLINE = 1_000_000
/** Number of characters of a pattern that count as one step at each position. */
const PART_LENGTH = 32

/**
 * Whether V8 matches the pattern at one place in a text of this length, in UTF-16 code units, in so little time that it needs no
 * deadline: each repetition may multiply the work by the length, each branch by two. Setting up a deadline takes 0.1 ms.
 */
export function isQuick({ expression, repetitions, branches, nested }: Translated, length: number): boolean {
  const parts = Math.ceil(expression.source.length / PART_LENGTH)
  return !nested && parts * 2 ** branches * length ** repetitions <= STEPS_WITHOUT_DEADLINE
}

let sandbox: { run?: () => void } | undefined
let script: Script | undefined

/** Return the result of `run`, or that of `missed` if `run` was interrupted after `ms` milliseconds. */
export function beforeDeadline<T>(ms: number, run: () => T, missed: () => T): T {
  sandbox ??= createContext(Object.create(null) as object)
  script ??= new Script('run()')
  let result: T | undefined
  sandbox.run = () => {
    result = run()
  }
  try {
    script.runInContext(sandbox, { timeout: ms })
    return result as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return missed()
    throw error
  }
}

/** Run an expression, which V8 compiles when it is first used. @throws SaltError TARGET_INVALID if V8 refuses it for its size */
export function unlessTooLarge<T>(pattern: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error
    throw invalidPatternError(pattern, 'it is too large')
  }
}
