import { compoundWords, isCompoundOperator } from '../base/compound-target.ts'
import { SaltError } from '../base/errors.ts'
import type { Target } from './matcher.ts'

/** Characters of a target, lists of ids aside. */
const LONGEST = 65_536
/** Targets that a compound one is made of, lists of ids among them. */
const MOST_TERMS = 1_000
/** Ids of all lists of a target, and the characters of all of them. */
const MOST_IDS = 100_000
const LONGEST_LIST = 8_388_608

/**
 * Throws TARGET_INVALID, with a sentence, for a target so large that to decide it for a whole fleet would keep a process
 * busy for seconds. Nothing of it is read before.
 */
export function checkSize(target: Target): void {
  const reason = whyTooLarge(target)
  if (reason !== undefined) throw new SaltError('TARGET_INVALID', reason)
}

/** The sentence, if it is too large. */
export function whyTooLarge({ tgt, tgt_type }: Target): string | undefined {
  if (tgt_type === 'list') return whyListTooLarge([tgt].flat())
  if (charactersOf(tgt) > LONGEST_LIST) return `The target is longer than ${LONGEST_LIST} characters.`
  if (tgt_type !== 'compound') return whyTooLong(charactersOf(tgt))
  const terms = (compoundWords(tgt) ?? []).filter((word) => !isCompoundOperator(word))
  if (terms.length > MOST_TERMS)
    return `The compound target is made of ${terms.length} targets, but may have ${MOST_TERMS}: write ids as one list, L@ID,ID.`
  const lists = terms.filter((word) => word.startsWith('L@'))
  return whyListTooLarge(lists) ?? whyTooLong(charactersOf(tgt) - charactersOf(lists))
}

function whyTooLong(characters: number): string | undefined {
  if (characters <= LONGEST) return undefined
  return `The target has ${characters} characters, but may have ${LONGEST}: name ids as a list (-L).`
}

/** `lists`: ids, or text of ids with commas. */
function whyListTooLarge(lists: readonly unknown[]): string | undefined {
  const characters = charactersOf(lists)
  if (characters > LONGEST_LIST)
    return `The list of ids has ${characters} characters, but may have ${LONGEST_LIST}.`
  const ids = lists.reduce<number>(
    (sum, list) => sum + (typeof list === 'string' ? commasIn(list) : 0) + 1,
    0,
  )
  if (ids <= MOST_IDS) return undefined
  return `The list has ${ids} ids, but may have ${MOST_IDS}: ask for them in several jobs, or mean them by a pattern.`
}

const commasIn = (text: string): number => text.split(',').length - 1

/** Of text, or of a list of it. */
const charactersOf = (value: unknown): number =>
  [value].flat().reduce<number>((sum, each) => sum + (typeof each === 'string' ? each.length : 0), 0)
