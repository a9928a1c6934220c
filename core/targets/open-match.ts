import type { Context, Log } from '../author/context.ts'
import type { Matcher, MatchSubject } from '../author/kinds.ts'
import { onceInAWhile } from '../base/once-in-a-while.ts'
import { openGuardedLoader } from '../loader/index.ts'
import { compoundLetters } from './compound-letters.ts'
import { createMatcher, type TargetMatcher } from './matcher.ts'

/** Load all matcher plugins. They are few and small, and matching must be synchronous. */
export async function openMatchers(
  config: Readonly<Record<string, unknown>>,
  log: Log,
): Promise<TargetMatcher> {
  const loader = await openGuardedLoader('matchers', { config, log })
  const matchers = new Map<string, Matcher>()
  for (const name of await loader.pluginNames()) {
    const matcher = await loader.plugin<Matcher>(name).catch(() => undefined) // the loader has logged the reason
    if (matcher) matchers.set(name, matcher)
  }
  const nodegroups = config.nodegroups
  return createMatcher({
    matchers: (type) => matchers.get(type),
    letters: compoundLetters(matchers, (sentence) => log.warn(sentence)),
    nodegroups: (typeof nodegroups === 'object' && nodegroups ? nodegroups : {}) as Record<string, unknown>,
    // Limits the log, since a target is evaluated for each minion.
    onInvalid: onceInAWhile(
      (reason) => log.warn(`A target is invalid and matches no minion: ${reason.split('\n', 1)[0]}`),
      1000,
    ),
  })
}

/** Return the function `match` of a context, which decides for this minion. */
export async function openMatch(
  settings: Omit<MatchSubject, 'data'> & {
    readonly config: Readonly<Record<string, unknown>>
    readonly log: Log
    /** The datastore of a minion. Read when a matcher uses it. */
    readonly datastore?: { read(): Readonly<Record<string, unknown>> }
  },
): Promise<Context['match']> {
  let matchers: Promise<TargetMatcher> | undefined
  return async (tgt, type, options = {}) => {
    matchers ??= openMatchers(settings.config, settings.log)
    const { grains, pillar, datastore } = settings
    const subject: MatchSubject = {
      id: options.minionId ?? settings.id,
      ...(grains && { grains }),
      ...(pillar && { pillar }),
      ...(datastore && {
        get data() {
          return datastore.read()
        },
      }),
    }
    const { delimiter } = options
    return (await matchers).match({ tgt, tgt_type: type, ...(delimiter && { delimiter }) }, subject) === true
  }
}
