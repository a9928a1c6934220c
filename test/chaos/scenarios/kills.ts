/** kill -9 of processes of the master and of minions. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fleet } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

async function killAll(fleet: Fleet, who: 'master' | 'minions'): Promise<void> {
  const daemons = who === 'master' ? [fleet.master] : fleet.daemons.slice(1)
  await Promise.all(daemons.map((daemon) => daemon.killAll()))
}

const restartMinions = (fleet: Fleet) =>
  Promise.all(fleet.daemons.slice(1).map((minion) => fleet.restart(minion)))

/** kill -9 of this process of the master, twice. */
const childKilled = (name: string, child: string): Scenario => ({
  name: `kill-${name}`,
  says: `kill -9 of the ${name} of the master, twice`,
  rows: [15],
  run: (fleet, random) =>
    amid(fleet, random, async () => {
      for (let round = 1; round <= 2; round++) await fleet.replace(fleet.master, child, 'SIGKILL')
    }),
})

export const kills: readonly Scenario[] = [
  {
    name: 'kill-master',
    says: 'kill -9 of all processes of the master, three times, started again at once',
    rows: [1, 24],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        for (let round = 1; round <= 3; round++) {
          await killAll(fleet, 'master')
          await fleet.restart(fleet.master)
          if (round < 3) await fleet.publish({ ms: random.between(0, 1000) })
        }
      }),
  },
  {
    name: 'kill-supervisor',
    says: 'kill -9 of the supervisor alone, which leaves its children; started again at once',
    rows: [1, 15],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        fleet.signal(fleet.master, 'main', 'SIGKILL')
        await fleet.master.exited()
        await fleet.restart(fleet.master)
      }),
  },
  childKilled('publisher', 'publisher'),
  childKilled('worker', 'MWorker-0'),
  childKilled('workers', 'MWorker-'),
  {
    name: 'publish-without-publisher',
    says: 'jobs that are published within a second of a kill -9 of the publisher',
    rows: [9, 15],
    async run(fleet, random) {
      for (let round = 1; round <= 3; round++) {
        fleet.signal(fleet.master, 'publisher', 'SIGKILL')
        await fleet.load({ jobs: 4, longest: 300 }, random)
      }
    },
  },
  {
    name: 'kill-minion',
    says: 'kill -9 of one minion, whose job processes go on; started again at once',
    rows: [9, 18],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        const minion = fleet.minion(random.pick(fleet.ids))
        fleet.signal(minion, 'main', 'SIGKILL')
        await minion.exited()
        await fleet.restart(minion)
      }),
  },
  {
    name: 'kill-jobs',
    says: 'kill -9 of the processes that run the jobs of a minion, twice',
    rows: [18],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        for (let round = 1; round <= 2; round++) {
          fleet.signal(fleet.minion(random.pick(fleet.ids)), 'JobProcess', 'SIGKILL')
          await fleet.publish({ ms: random.between(0, 500) })
        }
      }),
  },
  {
    name: 'kill-minions',
    says: 'kill -9 of all processes of all minions, started again at once',
    rows: [9, 18],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        await killAll(fleet, 'minions')
        await restartMinions(fleet)
      }),
  },
  {
    name: 'kill-all',
    says: 'kill -9 of all processes of the master and of the minions, as when the power fails; started again',
    rows: [1, 3, 9, 18, 27],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        await Promise.all([killAll(fleet, 'master'), killAll(fleet, 'minions')])
        await Promise.all([fleet.restart(fleet.master), restartMinions(fleet)])
      }),
  },
  {
    name: 'kill-starting',
    says: 'kill -9 of all processes of the master and of one minion while they start, at a random moment, three times',
    rows: [27],
    async run(fleet, random) {
      const daemons = [fleet.master, fleet.minion(random.pick(fleet.ids))]
      await amid(fleet, random, async () => {
        for (const daemon of daemons) await daemon.killAll()
        for (let round = 1; round <= 3; round++) {
          for (const daemon of daemons) fleet.startOnly(daemon)
          await delay(random.between(0, 3000))
          for (const daemon of daemons) await daemon.killAll()
        }
        for (const daemon of daemons) await fleet.restart(daemon)
      })
    },
  },
]
