import type { Translated } from './python-regexp-syntax.ts'

const STEPS_WITHOUT_DEADLINE = 1_000_000

/**
 * Whether V8 matches the pattern at one place in a text of this length, in UTF-16 code units, in so little time that it needs no
 * deadline: each repetition may multiply the work by the length, each branch by two. Setting up a deadline takes 0.1 ms.
 */
export const isQuick = ({ repetitions, branches, nested }: Translated, length: number): boolean =>
  !nested && 2 ** branches * length ** repetitions <= STEPS_WITHOUT_DEADLINE
