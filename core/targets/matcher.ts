import type { Matcher, MatchResult, MatchSubject } from '../author/kinds.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { saltLetters, type TargetLetters } from '../dialect/compound-target.ts'
import { valueText } from '../dialect/json.ts'
import { typeInWords } from '../loader/kind-of.ts'

/** A target, with the field names of a job load (wire protocol §9, §15). */
export interface Target {
  readonly tgt: unknown
  readonly tgt_type: string
  readonly delimiter?: string
}

/** Return the type of a target that is given without one. */
export const defaultTargetType = (tgt: unknown): string => (Array.isArray(tgt) ? 'list' : 'glob')

/** Decide whether a target selects a minion. Throws TARGET_INVALID if the target turns out to be invalid. */
type Decide = (subject: MatchSubject) => MatchResult

export interface TargetMatcher {
  /** Letters of compound targets. */
  readonly letters: TargetLetters
  /** Parse a target once, for any number of minions. Throws TARGET_INVALID with a sentence if it is invalid. */
  prepare(target: Target): Decide
  /** Parse and decide. Never throws: an invalid target matches no minion. */
  match(target: Target, subject: MatchSubject): MatchResult
}

export interface MatcherSettings {
  /** Return the plugin for a target type. */
  readonly matchers: (type: string) => Matcher | undefined
  /** Letters of compound targets; Salt's by default. */
  readonly letters?: TargetLetters
  readonly nodegroups?: Readonly<Record<string, unknown>>
  /** Called with the reason why a target is invalid, as a sentence. */
  readonly onInvalid?: (reason: string) => void
}

const DEFAULT_DELIMITER = ':'
/** Maximum nesting of targets. A deeper one is assumed to contain itself. */
const MAX_DEPTH = 20
/** Longer targets are not cached. */
const MAX_CACHED_CHARACTERS = 4_096
/** Number of parsed targets that are cached, since those of access rules are evaluated for every minion of every job. */
const MAX_CACHED_TARGETS = 200

/** Create a matcher for all target types that have a plugin. */
export function createMatcher(settings: MatcherSettings): TargetMatcher {
  const cache = new Map<string, Decide>()
  const decider = (target: Target): Decide => {
    const { tgt, tgt_type, delimiter = '' } = target
    const isShort = typeof tgt === 'string' && tgt.length <= MAX_CACHED_CHARACTERS
    const key = isShort ? JSON.stringify([tgt_type, delimiter, tgt]) : undefined
    const cached = key === undefined ? undefined : cache.get(key)
    if (cached) return cached
    const decide = refusing(prepare(settings, target, []))
    if (cache.size >= MAX_CACHED_TARGETS) cache.clear()
    if (key !== undefined) cache.set(key, decide)
    return decide
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

/** Parse a target, and check the plugin's verdicts. `within` are the targets that contain it, outermost first. */
function prepare(settings: MatcherSettings, target: Target, within: readonly Target[]): Decide {
  const decide = prepareByPlugin(settings, target, within)
  return (subject) => {
    const verdict: unknown = decide(subject)
    if (typeof verdict === 'boolean' || verdict === 'unknown') return verdict
    throw invalid(
      `The matcher '${target.tgt_type}' returned ${typeInWords(verdict)} instead of true, false or 'unknown'.`,
    )
  }
}

function prepareByPlugin(settings: MatcherSettings, target: Target, within: readonly Target[]): Decide {
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
  const groups = within.filter((outer) => outer.tgt_type === 'nodegroup').map((outer) => valueText(outer.tgt))
  const name = valueText(tgt)
  if (tgt_type === 'nodegroup' && groups.includes(name))
    throw invalid(
      `Nodegroup '${name}' contains itself (${[...groups, name].join(' → ')}): remove N@${name} from its definition in the configuration.`,
    )
  if (within.length > MAX_DEPTH)
    throw invalid(
      `The target is nested more than ${MAX_DEPTH} levels deep: one of its parts contains itself.`,
    )
  const plugin = settings.matchers(tgt_type)
  if (plugin) return plugin
  throw invalid(`There is no target type '${tgt_type}'.`)
}

/** Convert errors that a matcher throws while it decides to TARGET_INVALID. */
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
