import type { MinionConfig } from '../config/index.ts'
import type { MasterLink } from './master-link.ts'

/** The pillar a master has for this minion (wire protocol §7.3). The grains go along; the master keeps them for targeting. */
export function fetchPillar(
  link: MasterLink,
  { id, saltenv, pillarenv }: MinionConfig,
  grains: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  return link.pillar({
    id,
    grains,
    saltenv,
    pillarenv,
    pillar_override: {},
    extra_minion_data: {},
    ver: '2',
    cmd: '_pillar',
  })
}
