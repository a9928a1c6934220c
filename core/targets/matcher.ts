import type { Matcher, MatchSubject, Verdict } from '../author/kinds.ts'
import { saltLetters, type TargetLetters } from '../base/compound-target.ts'
import { messageOf, SaltError } from '../base/errors.ts'

/** Who is meant, in the words of a job load (wire protocol §9, §15). */
export interface Target {
  readonly tgt: unknown
  readonly tgt_type: string
  readonly delimiter?: string
}

/** Decides for one minion. Throws TARGET_INVALID where only now it shows that it cannot be decided. */
type Decide = (subject: MatchSubject) => Verdict

export interface TargetMatcher {
  /** Of compound targets. */
  readonly letters: TargetLetters
  /** Reads a target once, for any number of minions. Throws TARGET_INVALID with a sentence if nobody can make sense of it. */
  prepare(target: Target): Decide
  /** Never throws: a target that cannot be evaluated matches nobody. */
  match(target: Target, subject: MatchSubject): Verdict
}

export interface MatcherSettings {
  /** The plugin for a target type. */
  readonly matchers: (type: string) => Matcher | undefined
  /** Letters of compound targets; Salt's own if not said. */
  readonly letters?: TargetLetters
  readonly nodegroups?: Readonly<Record<string, unknown>>
  /** Told why a target matches nobody: a sentence. */
  readonly onInvalid?: (reason: string) => void
}

const DEFAULT_DELIMITER = ':'
/** Targets made of targets: deeper than this, one is made of itself. */
const DEEPEST = 20
/** Longer targets are read each time. */
const LONGEST_KEPT = 4_096
/** So many targets stay read: those of access rules are met for every minion of every job. */
const KEPT = 200

/** Evaluates targets of every type for which there is a matcher plugin. */
export function createMatcher(settings: MatcherSettings): TargetMatcher {
  const kept = new Map<string, Decide>()
  const decider = (target: Target): Decide => {
    const { tgt, tgt_type, delimiter = '' } = target
    const isShort = typeof tgt === 'string' && tgt.length <= LONGEST_KEPT
    const key = isShort ? JSON.stringify([tgt_type, delimiter, tgt]) : undefined
    const known = key === undefined ? undefined : kept.get(key)
    if (known) return known
    const made = refusing(prepare(settings, target, []))
    if (kept.size >= KEPT) kept.clear()
    if (key !== undefined) kept.set(key, made)
    return made
  }
  return {
    letters: settings.letters ?? saltLetters,
    prepare: decider,
    match(target, subject) {
      try {
        return decider(target)(subject)
      } catch (error) {
        settings.onInvalid?.(messageOf(error))
        return false
      }
    },
  }
}

/** `within`: of which targets this one is a part. */
function prepare(settings: MatcherSettings, target: Target, within: readonly Target[]): Decide {
  const plugin = pluginFor(settings, target, within)
  const path = [...within, target]
  const { nodegroups = {}, letters = saltLetters } = settings
  const options = { delimiter: target.delimiter || DEFAULT_DELIMITER, nodegroups }
  const part = (type: string, tgt: unknown, delimiter?: string): Decide =>
    prepare(settings, { tgt, tgt_type: type, ...(delimiter !== undefined && { delimiter }) }, path)
  try {
    if (plugin.prepare) return plugin.prepare(target.tgt, { ...options, letters, prepare: part })
  } catch (error) {
    throw asInvalid(error)
  }
  return (subject) =>
    plugin.match(target.tgt, subject, { ...options, match: (...other) => part(...other)(subject) })
}

function pluginFor(settings: MatcherSettings, { tgt, tgt_type }: Target, within: readonly Target[]): Matcher {
  const groups = within.filter((outer) => outer.tgt_type === 'nodegroup').map((outer) => String(outer.tgt))
  if (tgt_type === 'nodegroup' && groups.includes(String(tgt)))
    throw invalid(
      `Nodegroup '${tgt}' contains itself (${[...groups, tgt].join(' → ')}): take N@${tgt} out of its definition in the configuration.`,
    )
  if (within.length > DEEPEST)
    throw invalid(`The target is made of targets more than ${DEEPEST} deep: one of them contains itself.`)
  const plugin = settings.matchers(tgt_type)
  if (plugin) return plugin
  throw invalid(`There is no target type '${tgt_type}'.`)
}

/** What a matcher complains of while it decides is wrong with the target, too. */
const refusing =
  (decide: Decide): Decide =>
  (subject) => {
    try {
      return decide(subject)
    } catch (error) {
      throw asInvalid(error)
    }
  }

const asInvalid = (error: unknown): SaltError =>
  SaltError.is(error) && error.code === 'TARGET_INVALID' ? error : invalid(messageOf(error), error)

const invalid = (message: string, cause?: unknown): SaltError =>
  new SaltError('TARGET_INVALID', message, {}, { cause })
