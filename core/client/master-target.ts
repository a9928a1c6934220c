import type { Log } from '../author/context.ts'
import type { Matched } from '../author/master.ts'
import type { MasterConfig } from '../config/index.ts'
import { cachedMinions } from '../jobs/cached-minions.ts'
import type { MinionData } from '../jobs/minion-data.ts'
import { expectedMinions } from '../targets/index.ts'
import { openMatchers } from '../targets/open-match.ts'

interface Facts {
  readonly config: MasterConfig
  readonly log: Log
  readonly acceptedIds: readonly string[]
  readonly data: MinionData
}

/** Whom a target means among the accepted minions, by what is cached of them. */
export async function matchTarget(
  target: { readonly tgt: unknown; readonly tgt_type: string; readonly delimiter?: string },
  { config, log, acceptedIds, data }: Facts,
): Promise<Matched> {
  const matcher = await openMatchers(config, log)
  const { minions, unknown, missing } = expectedMinions(target, cachedMinions(acceptedIds, data), matcher)
  const unsure = new Set(unknown)
  return { minions: minions.filter((id) => !unsure.has(id)), unknown, missing }
}
