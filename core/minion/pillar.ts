import type { MinionConfig } from '../config/index.ts'
import type { MasterConnection } from './link/master-connection.ts'

/**
 * Fetch the pillar of this minion from a master (wire protocol §7.3). The request carries the grains, which the master keeps
 * for targeting.
 */
export function fetchPillar(
  connection: MasterConnection,
  { id, saltenv, pillarenv }: MinionConfig,
  grains: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  return connection.pillar({
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
