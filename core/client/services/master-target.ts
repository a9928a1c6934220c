import type { Log } from '../../author/context.ts'
import type { Matched } from '../../author/master.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import type { MasterConfig } from '../../config/index.ts'
import { certainMinions, expectedMinions } from '../../targets/index.ts'
import { openMatchers } from '../../targets/open-match.ts'

interface TargetSources {
  readonly config: MasterConfig
  readonly log: Log
  readonly acceptedIds: readonly string[]
  readonly data: MinionData
}

/** Match a target against the accepted minions, by what is cached of them. */
export async function matchTarget(
  target: { readonly tgt: unknown; readonly tgt_type: string; readonly delimiter?: string },
  { config, log, acceptedIds, data }: TargetSources,
): Promise<Matched> {
  const matcher = await openMatchers(config, log)
  const expected = expectedMinions(target, cachedMinions(acceptedIds, data), matcher)
  return { minions: certainMinions(expected), unknown: expected.unknown, missing: expected.missing }
}
