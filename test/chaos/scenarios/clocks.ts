/** Clocks that leap. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Daemon } from '../../harness/daemons.ts'
import type { Random } from '../../harness/random.ts'
import type { Fleet, FleetOptions } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

const CLOCK = fileURLToPath(new URL('../clock.mjs', import.meta.url))
const HOUR_MS = 3_600_000
const LEAPS = [-365 * 24, -1, 1, 365 * 24].map((hours) => hours * HOUR_MS)

const fileOf = ({ directory }: Daemon): string => join(directory, 'clock')

const movable: FleetOptions = {
  within: (daemon) => ['env', `NODE_OPTIONS=--import=${CLOCK}`, `CHAOS_CLOCK=${fileOf(daemon)}`],
}

/** A clock that goes wrong by an hour or a year, and is set right again, while jobs are published. */
async function leap(fleet: Fleet, random: Random, daemon: Daemon): Promise<void> {
  await amid(fleet, random, async () => {
    await writeFile(fileOf(daemon), String(random.pick(LEAPS)))
    await fleet.load({ jobs: 4, longest: 1000 }, random)
    await writeFile(fileOf(daemon), '0')
  })
}

export const clocks: readonly Scenario[] = [
  {
    name: 'clock-minion',
    says: 'the clock of a minion leaps by an hour or a year, back or ahead, and is set right again',
    rows: [16],
    fleet: movable,
    run: (fleet, random) => leap(fleet, random, fleet.minion(random.pick(fleet.ids))),
  },
  {
    name: 'clock-master',
    says: 'the clock of the master leaps by an hour or a year, back or ahead, and is set right again',
    rows: [16],
    fleet: movable,
    run: (fleet, random) => leap(fleet, random, fleet.master),
  },
  {
    name: 'clock-restart',
    says: 'a minion is killed and started again with a clock that is wrong, which is set right when it runs',
    rows: [9, 16],
    fleet: movable,
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        const minion = fleet.minion(random.pick(fleet.ids))
        await minion.killAll()
        await writeFile(fileOf(minion), String(random.pick(LEAPS)))
        await fleet.restart(minion)
        await fleet.publish({ ms: random.between(0, 500) })
        await writeFile(fileOf(minion), '0')
      }),
  },
]
