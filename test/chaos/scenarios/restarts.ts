/** Orderly restarts, long outages, and new keys. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../../harness/daemons.ts'
import type { Fleet } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

async function restart(fleet: Fleet, daemons: readonly Daemon[]): Promise<void> {
  await Promise.all(daemons.map((daemon) => daemon.stop()))
  await Promise.all(daemons.map((daemon) => fleet.restart(daemon)))
}

/** Ask the master for a new AES key. */
const rotate = ({ cluster }: Fleet) => writeFile(join(cluster.config.cachedir, '.dfn'), '', { mode: 0o400 })

export const restarts: readonly Scenario[] = [
  {
    name: 'restart-minion',
    says: 'SIGTERM of one minion, started again at once',
    rows: [9, 19, 20],
    run: (fleet, random) => amid(fleet, random, () => restart(fleet, [fleet.minion(random.pick(fleet.ids))])),
  },
  {
    name: 'restart-master',
    says: 'SIGTERM of the master, started again at once, twice',
    rows: [1, 6, 19],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        await restart(fleet, [fleet.master])
        await restart(fleet, [fleet.master])
      }),
  },
  {
    name: 'restart-all',
    says: 'SIGTERM of the master and of all minions, started again',
    rows: [1, 9, 19],
    run: (fleet, random) => amid(fleet, random, () => restart(fleet, fleet.daemons)),
  },
  {
    name: 'outage',
    says: 'the master is away for up to 20 s while jobs end, and the minions are restarted once meanwhile',
    rows: [1, 2],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        await fleet.master.killAll()
        await delay(random.between(2_000, 10_000))
        for (const minion of fleet.daemons.slice(1)) {
          await minion.killAll()
          fleet.startOnly(minion)
        }
        await delay(random.between(2_000, 10_000))
        await fleet.restart(fleet.master)
      }),
  },
  {
    name: 'rotate',
    says: 'a new AES key, three times',
    rows: [7],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        for (let round = 1; round <= 3; round++) {
          await rotate(fleet)
          await fleet.publish({ ms: random.between(0, 500) })
        }
      }),
  },
  {
    name: 'restart-rotating',
    says: 'kill -9 of the master, and a restart of a minion, while the AES key is changed',
    rows: [6, 7],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        await rotate(fleet)
        await delay(random.between(0, 1500))
        await fleet.master.killAll()
        await fleet.restart(fleet.master)
        await rotate(fleet)
        await restart(fleet, [fleet.minion(random.pick(fleet.ids))])
      }),
  },
]
