/** Evaluates a target with the data on this host, without publishing anything (`--preview-target`). */
import type { Log } from '../../author/context.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import { MinionData } from '../../cache/minion-data.ts'
import { minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { KeyStore } from '../../keys/key-store.ts'
import { expandTarget, expectedMinions } from '../../targets/index.ts'
import { openMatchers } from '../../targets/open-match.ts'

export interface Preview {
  readonly minions: string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown: readonly string[]
}

/**
 * Return the minions that a target matches.
 * @throws SaltError TARGET_INVALID
 */
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
