/** Whom a target means, by what this host knows: nothing is published. */
import type { Log } from '../author/context.ts'
import type { MasterConfig } from '../config/index.ts'
import { cachedMinions } from '../jobs/cached-minions.ts'
import { MinionData } from '../jobs/minion-data.ts'
import { minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore } from '../keys/key-store.ts'
import { expandTarget, expectedMinions } from '../targets/index.ts'
import { openMatchers } from '../targets/open-match.ts'

export interface Preview {
  readonly minions: string[]
  /** Who of them is perhaps not meant: nothing is known of them here that would tell. */
  readonly unknown: readonly string[]
}

/** Rejects with TARGET_INVALID for what nobody can make sense of. */
export async function previewTarget(
  { tgt, tgtType, delimiter }: { tgt: unknown; tgtType: string; delimiter?: string },
  config: MasterConfig,
  log: Log,
): Promise<Preview> {
  const target = { tgt, tgt_type: tgtType, ...(delimiter !== undefined && { delimiter }) }
  const expanded = await expandTarget(target, { config, log })
  const data = MinionData.open(minionDataDirectory(config))
  try {
    const ids = await new KeyStore(config.pki_dir, config.api_clients).minions()
    const matcher = await openMatchers(config, log)
    const { minions, unknown } = expectedMinions(expanded, cachedMinions(ids, data), matcher)
    return { minions: minions.sort(), unknown: unknown.sort() }
  } finally {
    await data.close()
  }
}
