import type { Matcher, MatchSubject, Verdict } from '../author/kinds.ts'
import { messageOf, SaltError } from '../base/errors.ts'

/** Who is meant, in the words of a job load (wire protocol §9, §15). */
export interface Target {
  readonly tgt: unknown
  readonly tgt_type: string
  readonly delimiter?: string
}

export interface TargetMatcher {
  /** Never throws: a target that cannot be evaluated matches nobody. */
  match(target: Target, subject: MatchSubject): Verdict
}

export interface MatcherSettings {
  /** The plugin for a target type. */
  readonly matchers: (type: string) => Matcher | undefined
  readonly nodegroups?: Readonly<Record<string, unknown>>
  /** Told why a target matches nobody: a sentence. */
  readonly onInvalid?: (reason: string) => void
}

const DEFAULT_DELIMITER = ':'
/** Compound → nodegroup → compound …: deeper than this, a nodegroup contains itself. */
const DEEPEST = 20

/** Evaluates targets of every type for which there is a matcher plugin. */
export function createMatcher(settings: MatcherSettings): TargetMatcher {
  return {
    match(target, subject) {
      try {
        return evaluate(settings, target, subject, 0)
      } catch (error) {
        settings.onInvalid?.(messageOf(error))
        return false
      }
    },
  }
}

function evaluate(settings: MatcherSettings, target: Target, subject: MatchSubject, depth: number): Verdict {
  const delimiter = target.delimiter || DEFAULT_DELIMITER
  return pluginFor(settings, target.tgt_type, depth).match(target.tgt, subject, {
    delimiter,
    nodegroups: settings.nodegroups ?? {},
    match: (type, expression, ownDelimiter) =>
      evaluate(
        settings,
        { tgt: expression, tgt_type: type, delimiter: ownDelimiter ?? delimiter },
        subject,
        depth + 1,
      ),
  })
}

function pluginFor(settings: MatcherSettings, type: string, depth: number): Matcher {
  if (depth > DEEPEST) {
    throw new SaltError(
      'TARGET_INVALID',
      `The target is nested more than ${DEEPEST} deep: a nodegroup contains itself.`,
    )
  }
  const plugin = settings.matchers(type)
  if (plugin) return plugin
  throw new SaltError('TARGET_INVALID', `There is no target type '${type}'.`, { type })
}
