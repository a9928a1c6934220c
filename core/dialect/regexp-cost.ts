import type { Translated } from './python-regexp-syntax.ts'

const STEPS_WITHOUT_DEADLINE = 1_000_000
/** A pattern of so many characters counts as one step at a place. */
const PART_LENGTH = 32

/**
 * Whether V8 matches the pattern at one place in a text of this length, in UTF-16 code units, in so little time that it needs no
 * deadline: each repetition may multiply the work by the length, each branch by two. Setting up a deadline takes 0.1 ms.
 */
export function isQuick({ expression, repetitions, branches, nested }: Translated, length: number): boolean {
  const parts = Math.ceil(expression.source.length / PART_LENGTH)
  return !nested && parts * 2 ** branches * length ** repetitions <= STEPS_WITHOUT_DEADLINE
}
