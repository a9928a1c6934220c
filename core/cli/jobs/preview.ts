/** Evaluates a target with the data on this host, without publishing anything (`--preview-target`). */
import type { Log } from '../../author/context.ts'
import { cachedMinions } from '../../cache/cached-minions.ts'
import { MinionData } from '../../cache/minion-data.ts'
import { minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { KeyStore, otherKeys } from '../../keys/index.ts'
import { expandTarget, expectedMinions, explainNoMatch } from '../../targets/index.ts'
import { openMatchers } from '../../targets/open-match.ts'

export interface Preview {
  readonly minions: string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown: readonly string[]
  /** Why there are none, as a sentence. */
  readonly reason?: string
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
    const keys = new KeyStore(config.pki_dir, config.api_clients)
    const ids = await keys.minions()
    const subjects = () => cachedMinions(ids, data)
    const matcher = await openMatchers(config, log)
    const { minions, unknown } = expectedMinions(expanded, subjects(), matcher)
    if (minions.length === 0) {
      const facts = { subjects, otherKeys: await otherKeys(keys), matcher }
      return { minions, unknown, reason: explainNoMatch(expanded, facts) }
    }
    return { minions: minions.sort(), unknown: unknown.sort() }
  } finally {
    await data.close()
  }
}
