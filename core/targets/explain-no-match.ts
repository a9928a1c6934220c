import type { MatchSubject } from '../author/kinds.ts'
import { closest } from '../base/closest.ts'
import { shortList } from '../base/sentence.ts'
import { type CompoundTree, parseCompound } from '../dialect/compound-target.ts'
import { valueText } from '../dialect/json.ts'
import { explainNoValue } from './explain-no-value.ts'
import type { Target, TargetMatcher } from './matcher.ts'

/** Facts for the explanation. */
export interface ExplainFacts {
  /** Return the accepted minions with their cached facts. Called several times. */
  readonly subjects: () => Iterable<MatchSubject>
  /** States of the keys that are not accepted, by id. */
  readonly otherKeys: ReadonlyMap<string, 'pending' | 'rejected' | 'denied'>
  readonly matcher: TargetMatcher
}

/** Maximum number of names in a sentence. */
const NAMED = 5
/** Maximum number of parts of a compound target that are explained. */
const EXPLAINED = 3

/** Return one or more sentences that explain to the user why a target selects no minion. */
export function explainNoMatch(target: Target, facts: ExplainFacts): string {
  const waiting = byId(target) ? notAccepted(target, facts) : undefined
  if (waiting) return waiting
  if (isEmpty(facts.subjects())) return noKeys(facts)
  return reasonOf(target, facts)
}

const byId = ({ tgt_type }: Target): boolean => ['glob', 'pcre', 'list'].includes(tgt_type)

function reasonOf(target: Target, facts: ExplainFacts): string {
  const { tgt, tgt_type, delimiter = ':' } = target
  if (tgt_type === 'compound') return noneOfCompound(target, facts)
  if (tgt_type === 'list') return noneOfList(tgt, facts)
  const text = valueText(tgt)
  if (byId(target)) return noSuchId(target, facts)
  if (tgt_type === 'ipcidr')
    return `No minion has ${text.includes('/') ? `an address in ${text}` : `the address ${text}`}.`
  const [, kind] = /^(grain|pillar)(?:_pcre|_exact)?$/.exec(tgt_type) ?? []
  if (kind) return explainNoValue(text.split(delimiter), kind as 'grain' | 'pillar', facts.subjects())
  return `No minion matches '${text}' with the target type '${tgt_type}'.`
}

/** Name the keys that are not accepted and that the target would select otherwise. */
function notAccepted(target: Target, { otherKeys, matcher }: ExplainFacts): string | undefined {
  const meant = Array.from(otherKeys.keys()).filter((id) => matcher.match(target, { id }) === true)
  const states = ['pending', 'rejected', 'denied'] as const
  const sentences = states.map((state) => {
    const ids = meant.filter((id) => otherKeys.get(id) === state)
    if (ids.length === 0) return ''
    const include = state === 'pending' ? '' : ` --include-${state}`
    const [whose, is, it] = ids.length > 1 ? ['The keys of', 'are', 'them'] : ['The key of', 'is', 'it']
    return `${whose} ${listed(ids)} ${is} ${state}: accept ${it} with salt-key -a ${ids.length > 1 ? 'ID' : ids[0]}${include}`
  })
  return sentences.filter((sentence) => sentence !== '').join('\n') || undefined
}

function noKeys({ otherKeys }: ExplainFacts): string {
  const pending = Array.from(otherKeys.values()).filter((state) => state === 'pending').length
  const more = pending > 0 ? `; ${pending} ${pending > 1 ? 'are' : 'is'} pending (salt-key -L)` : ''
  return `This master has accepted no minion's key yet${more}.`
}

function noSuchId({ tgt, tgt_type }: Target, { subjects }: ExplainFacts): string {
  const text = valueText(tgt)
  if (tgt_type === 'pcre') return `No minion has an id whose beginning matches '${text}'.`
  if (/^[GPIJLNSER].?@./u.test(text))
    return `No minion has an id that matches '${text}'. Is it a compound target? Then it needs -C.`
  if (/^\(|\)$/.test(text))
    return `No minion has an id that matches '${text}': in a compound target, parentheses must be separate words.`
  if (/[*?[]/.test(text)) return `No minion has an id that matches '${text}'.`
  return `There is no minion '${text}'.${didYouMean(text, ids(subjects()))}`
}

function noneOfList(tgt: unknown, facts: ExplainFacts): string {
  const wanted = (typeof tgt === 'string' ? tgt.split(',') : [tgt].flat())
    .map(valueText)
    .filter((id) => id !== '')
  if (wanted.length === 0) return 'The list is empty.'
  const known = Array.from(ids(facts.subjects()))
  const sentences = wanted.slice(0, NAMED).map((id) => `There is no minion '${id}'.${didYouMean(id, known)}`)
  const more = wanted.length > NAMED ? [`(${wanted.length - NAMED} more ids do not exist either.)`] : []
  return [...sentences, ...more].join('\n')
}

/** Name the parts of a compound target that select no minion. If each part selects some, no minion matches all of them. */
function noneOfCompound({ tgt }: Target, facts: ExplainFacts): string {
  const leaves = leavesOf(parseCompound(tgt, facts.matcher.letters)).slice(0, 20)
  const targets = leaves.map(({ type, expression, delimiter }) => ({
    tgt: expression,
    tgt_type: type,
    ...(delimiter !== undefined && { delimiter }),
  }))
  const open = new Set(targets)
  for (const subject of facts.subjects())
    for (const target of open) if (facts.matcher.match(target, subject) !== false) open.delete(target)
  if (open.size === 0)
    return 'Each part of the target selects minions, but no minion matches the whole target.'
  const explained = leaves.flatMap(({ word }, index) => {
    const target = targets[index]
    if (!target || !open.has(target)) return []
    return [unknownLetter(target, facts) ?? `${word}: ${explainNoMatch(target, facts)}`]
  })
  return [...new Set(explained)].slice(0, EXPLAINED).join('\n')
}

/** Explain an unknown letter. As in Salt, the word is then a pattern for ids, since ids may contain `@`. */
function unknownLetter({ tgt, tgt_type }: Target, { matcher }: ExplainFacts): string | undefined {
  const [, type, letter = ''] = (tgt_type === 'glob' && /^(([A-Za-z]).?@)./u.exec(valueText(tgt))) || []
  if (type === undefined || matcher.letters.has(letter)) return undefined
  const known = [...matcher.letters.keys()].map((each) => `${each}@`).join(', ')
  return `${valueText(tgt)}: Unknown target type '${type}', so this was taken for a minion id. Known: ${known}.`
}

/** Return the parts of a compound target that must match, without negated ones. */
function leavesOf(tree: CompoundTree): Extract<CompoundTree, { word: string }>[] {
  if ('any' in tree) return tree.any.flatMap(leavesOf)
  if ('all' in tree) return tree.all.flatMap(leavesOf)
  return 'not' in tree ? [] : [tree]
}

function didYouMean(word: string, candidates: Iterable<string>): string {
  const meant = closest(word, candidates)
  return meant === undefined ? '' : ` Did you mean '${meant}'?`
}

function* ids(subjects: Iterable<MatchSubject>): Iterable<string> {
  for (const { id } of subjects) yield id
}

function isEmpty(iterable: Iterable<unknown>): boolean {
  for (const _ of iterable) return false
  return true
}

const listed = (names: readonly string[]): string => shortList(names, NAMED)
