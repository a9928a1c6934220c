/** Stores that are removed or damaged. */
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { JobCache } from '../../../core/jobs/job-cache.ts'
import { ReturnSpool } from '../../../core/jobs/return-spool.ts'
import type { Daemon } from '../../harness/daemons.ts'
import type { Random } from '../../harness/random.ts'
import type { Fleet } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

const jobsOf = ({ directory }: Daemon): string => JobCache.path(join(directory, 'cache', 'job_cache'))
const spoolOf = ({ directory }: Daemon): string => ReturnSpool.path(join(directory, 'cache', 'spool'))

/** LMDB has two heads, and uses the newer one that is whole. */
const PAGE = 4096

/** Overwrite one of the two heads of a store. */
function damageHead(path: string, random: Random): void {
  const file = openSync(path, 'r+')
  const garbage = Buffer.from(Array.from({ length: 64 }, () => random.between(0, 255)))
  writeSync(file, garbage, 0, garbage.length, random.between(0, 1) * PAGE + random.between(0, 128))
  closeSync(file)
}

/** Remove the file that a daemon uses. */
const removed = (name: string, what: string, store: (fleet: Fleet, random: Random) => string): Scenario => ({
  name: `remove-${name}`,
  says: `the file of ${what} is removed while it is in use`,
  rows: [10],
  run: (fleet, random) => amid(fleet, random, () => rmSync(store(fleet, random))),
})

export const stores: readonly Scenario[] = [
  removed('jobs', 'the job cache', ({ master }) => jobsOf(master)),
  removed('spool', 'the spool of a minion', (fleet, random) => spoolOf(fleet.minion(random.pick(fleet.ids)))),
  {
    name: 'damage-jobs',
    says: 'kill -9 of the master, and a head of the store of its job cache is damaged before it is started again',
    rows: [10, 27],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        await fleet.master.killAll()
        damageHead(jobsOf(fleet.master), random)
        await fleet.restart(fleet.master)
      }),
  },
  {
    name: 'damage-spool',
    says: 'kill -9 of a minion, and a head of the store of its spool is damaged before it is started again',
    rows: [10, 27],
    run: (fleet, random) =>
      amid(fleet, random, async () => {
        const minion = fleet.minion(random.pick(fleet.ids))
        await minion.killAll()
        damageHead(spoolOf(minion), random)
        await fleet.restart(minion)
      }),
  },
]
