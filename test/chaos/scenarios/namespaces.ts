/** Minions in PID namespaces of their own, as in containers: a new life has the pids of the one before. */
import type { FleetOptions } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

const contained: FleetOptions = {
  within: ({ program }) =>
    program === 'salt-minion'
      ? ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child', process.execPath]
      : [process.execPath],
}

export const namespaces: readonly Scenario[] = [
  {
    name: 'kill-container',
    says: 'kill -9 of all of a minion in a PID namespace, started again in a new one, where pids begin anew',
    rows: [18, 27],
    fleet: contained,
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        const minion = fleet.minion(random.pick(fleet.ids))
        for (let round = 1; round <= 2; round++) {
          await minion.killAll()
          await fleet.restart(minion)
        }
      }),
  },
]
