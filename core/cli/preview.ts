/** Whom a target means, by what this host knows: nothing is published. */
import type { Log } from '../author/context.ts'
import type { MatchSubject } from '../author/kinds.ts'
import type { MasterConfig } from '../config/index.ts'
import { MinionData } from '../jobs/minion-data.ts'
import { minionDataDirectory } from '../jobs/paths.ts'
import { KeyStore } from '../keys/key-store.ts'
import { expandCompound, expandNodegroup, expectedMinions, type Target } from '../targets/index.ts'
import { openMatchers } from '../targets/open-match.ts'

export async function previewTarget(
  { tgt, tgtType, delimiter }: { tgt: unknown; tgtType: string; delimiter?: string },
  config: MasterConfig,
  log: Log,
): Promise<string[]> {
  const data = MinionData.open(minionDataDirectory(config))
  try {
    const ids = await new KeyStore(config.pki_dir).list('accepted')
    const target = { ...expanded(tgt, tgtType, config), ...(delimiter !== undefined && { delimiter }) }
    return expectedMinions(target, subjectsOf(ids, data), await openMatchers(config, log)).minions.sort()
  } finally {
    await data.close()
  }
}

function expanded(tgt: unknown, type: string, { nodegroups }: MasterConfig): Target {
  if (type === 'nodegroup') return { tgt: expandNodegroup(String(tgt), nodegroups), tgt_type: 'compound' }
  if (type === 'compound') return { tgt: expandCompound(String(tgt), nodegroups), tgt_type: type }
  return { tgt, tgt_type: type }
}

function* subjectsOf(ids: readonly string[], data: MinionData): Iterable<MatchSubject> {
  for (const id of ids) {
    const [grains, pillar] = [data.grains(id), data.pillar(id)]
    yield { id, ...(grains && { grains }), ...(pillar && { pillar }) }
  }
}
