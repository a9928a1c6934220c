/** Networks that fail between the minions and their master. */
import { setTimeout as delay } from 'node:timers/promises'
import type { FleetOptions } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

const proxied: FleetOptions = { isProxied: true }

export const networks: readonly Scenario[] = [
  {
    name: 'cut',
    says: 'a partition: connections are refused for some seconds, twice',
    rows: [6],
    fleet: proxied,
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        for (let round = 1; round <= 2; round++) {
          await fleet.cut()
          await delay(random.between(500, 6000))
          await fleet.mend()
          await fleet.publish({ ms: random.between(0, 500) })
        }
      }),
  },
  {
    name: 'half-open',
    says: 'connections to both ports become half-open: they stay up, and nothing gets through',
    rows: [6],
    fleet: proxied,
    run: (fleet, random) =>
      amid(fleet, random, () => {
        for (const { proxy } of fleet.ways) proxy.freeze()
      }),
  },
  {
    name: 'half-open-publish',
    says: 'only the connections to the publish port become half-open',
    rows: [6, 8],
    fleet: proxied,
    run: (fleet, random) => amid(fleet, random, () => fleet.ways[1]?.proxy.freeze()),
  },
  {
    name: 'half-open-request',
    says: 'only the connections to the request port become half-open',
    rows: [6],
    fleet: proxied,
    run: (fleet, random) => amid(fleet, random, () => fleet.ways[0]?.proxy.freeze()),
  },
  {
    name: 'slow',
    says: 'everything is up to a second under way, in each direction',
    rows: [6, 17],
    fleet: proxied,
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        for (const { proxy } of fleet.ways) proxy.slow(random.between(100, 1000))
        await fleet.load({ jobs: 4, longest: 500 }, random)
        await fleet.mend()
      }),
  },
]
