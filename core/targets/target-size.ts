import { SaltError } from '../base/errors.ts'
import { compoundWords, isCompoundOperator } from '../dialect/compound-target.ts'
import type { Target } from './matcher.ts'

/** Maximum number of characters of a target, without lists of ids. */
const MAX_TARGET_CHARACTERS = 65_536
/** Maximum number of terms of a compound target, including lists of ids. */
const MAX_TERMS = 1_000
/** Maximum number of ids in all lists of a target. */
const MAX_IDS = 100_000
/** Maximum number of characters of all lists of a target. */
const MAX_LIST_CHARACTERS = 8_388_608

/**
 * Throw TARGET_INVALID, with a sentence, for a target so large that its evaluation for a large fleet would block a process for
 * seconds. Called before the target is parsed.
 */
export function checkTargetSize(target: Target): void {
  const reason = sizeProblem(target)
  if (reason !== undefined) throw new SaltError('TARGET_INVALID', reason)
}

/** Return the reason, if a target is too large. */
export function sizeProblem({ tgt, tgt_type }: Target): string | undefined {
  if (tgt_type === 'list') return listProblem([tgt].flat())
  if (charactersOf(tgt) > MAX_LIST_CHARACTERS)
    return `The target is longer than ${MAX_LIST_CHARACTERS} characters: publish several jobs, or use a pattern.`
  if (tgt_type !== 'compound') return lengthProblem(charactersOf(tgt))
  const terms = (compoundWords(tgt) ?? []).filter((word) => !isCompoundOperator(word))
  if (terms.length > MAX_TERMS)
    return `The compound target has ${terms.length} terms, but may have ${MAX_TERMS}: write ids as one list, L@ID,ID.`
  const lists = terms.filter((word) => word.startsWith('L@'))
  return listProblem(lists) ?? lengthProblem(charactersOf(tgt) - charactersOf(lists))
}

function lengthProblem(characters: number): string | undefined {
  if (characters <= MAX_TARGET_CHARACTERS) return undefined
  return `The target has ${characters} characters, but may have ${MAX_TARGET_CHARACTERS}: give ids as a list (-L).`
}

/** Check lists of ids. An element is one id, or several separated by commas. */
function listProblem(lists: readonly unknown[]): string | undefined {
  const characters = charactersOf(lists)
  if (characters > MAX_LIST_CHARACTERS)
    return `The list of ids has ${characters} characters, but may have ${MAX_LIST_CHARACTERS}: publish several jobs, or use a pattern.`
  const ids = lists.reduce<number>(
    (sum, list) => sum + (typeof list === 'string' ? commasIn(list) : 0) + 1,
    0,
  )
  if (ids <= MAX_IDS) return undefined
  return `The list has ${ids} ids, but may have ${MAX_IDS}: publish several jobs, or use a pattern.`
}

const commasIn = (text: string): number => text.split(',').length - 1

/** Count the characters of a text, or of a list of texts. */
const charactersOf = (value: unknown): number =>
  [value].flat().reduce<number>((sum, each) => sum + (typeof each === 'string' ? each.length : 0), 0)
