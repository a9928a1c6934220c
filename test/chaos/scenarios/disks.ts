/** Disks without room. */
import { join } from 'node:path'
import type { Daemon } from '../../harness/daemons.ts'
import { MOUNTS } from '../../harness/needs.ts'
import { limitFiles, mountSmallDisk, type SmallDisk } from '../../harness/small-disk.ts'
import { until } from '../../harness/until.ts'
import type { FleetOptions } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

const MEGABYTES = 16

/** A disk of its own for the cachedir; without the right to mount, a quota. */
const smallDisk = (daemon: Daemon): SmallDisk =>
  MOUNTS.isMet ? mountSmallDisk(join(daemon.directory, 'cache'), MEGABYTES) : limitFiles(daemon)

/** In the order of the daemons, the master first. */
const small: FleetOptions = { disk: smallDisk }

export const disks: readonly Scenario[] = [
  {
    name: 'full-master',
    says: 'the disk of the master is full until it has refused a job, twice',
    rows: [4, 12],
    fleet: small,
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        for (let round = 1; round <= 2; round++) {
          const { refused } = fleet.recorder
          const before = refused.length
          fleet.disks[0]?.fill()
          const filling = fleet.load({ jobs: 4, longest: 500, bytes: 50_000 }, random)
          await until('a job to be refused', async () => {
            await fleet.recorder.publish({ ms: 0, bytes: 50_000 })
            return refused.length > before
          })
          fleet.disks[0]?.makeRoom()
          await filling
        }
      }),
  },
  {
    name: 'full-minion',
    says: 'the disk of a minion is full while jobs are published, which it refuses or runs',
    rows: [12],
    fleet: small,
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        const disk = fleet.disks[random.between(1, fleet.ids.length)]
        disk?.fill()
        await fleet.load({ jobs: 4, longest: 500, bytes: 50_000 }, random)
        disk?.makeRoom()
      }),
  },
]
