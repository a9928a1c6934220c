import type { Context, Log } from '../author/context.ts'
import type { Matcher, MatchSubject } from '../author/kinds.ts'
import { seldom } from '../base/seldom.ts'
import { openGuardedLoader } from '../loader/index.ts'
import { lettersOf } from './letters.ts'
import { createMatcher, type TargetMatcher } from './matcher.ts'

/** All matcher plugins, ready to decide. They are few and small, and a target must be decided at once. */
export async function openMatchers(
  config: Readonly<Record<string, unknown>>,
  log: Log,
): Promise<TargetMatcher> {
  const loader = await openGuardedLoader('matchers', { config, log })
  const matchers = new Map<string, Matcher>()
  for (const name of await loader.pluginNames()) {
    const matcher = await loader.plugin<Matcher>(name).catch(() => undefined) // the loader has said why
    if (matcher) matchers.set(name, matcher)
  }
  const nodegroups = config.nodegroups
  return createMatcher({
    matchers: (type) => matchers.get(type),
    letters: lettersOf(matchers, (sentence) => log.warn(sentence)),
    nodegroups: (typeof nodegroups === 'object' && nodegroups ? nodegroups : {}) as Record<string, unknown>,
    // A target is looked at for each minion.
    onInvalid: seldom((reason) => log.warn(`A target matches nobody: ${reason.split('\n', 1)[0]}`), 1000),
  })
}

/** The `match` of a context: decides for this minion. */
export async function openMatch(
  settings: Omit<MatchSubject, 'data'> & {
    readonly config: Readonly<Record<string, unknown>>
    readonly log: Log
    /** What a minion keeps; read when a matcher looks at it. */
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
