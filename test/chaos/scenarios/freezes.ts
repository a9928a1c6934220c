/** SIGSTOP of processes of the master and of minions: they are there, and do nothing. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Daemon } from '../../harness/daemons.ts'
import type { Random } from '../../harness/random.ts'
import type { Fleet } from '../fleet.ts'
import { amid, type Scenario } from './scenario.ts'

/** Stop processes for a random number of seconds, while jobs are published. */
async function freeze(
  fleet: Fleet,
  random: Random,
  frozen: readonly (readonly [daemon: Daemon, name: string])[],
): Promise<void> {
  await amid(fleet, random, async () => {
    for (const [daemon, name] of frozen) fleet.signal(daemon, name, 'SIGSTOP')
    await delay(random.between(1000, 6000))
    for (const [daemon, name] of frozen) fleet.signal(daemon, name, 'SIGCONT')
  })
}

/** The beginning of the names of all processes but the first one. */
const CHILDREN = ''

const everything = (daemon: Daemon) =>
  [
    [daemon, 'main'],
    [daemon, CHILDREN],
  ] as const

/** A process that the supervisor replaces when it hangs. */
const hanging = (name: string, child: string, rows: readonly number[]): Scenario => ({
  name: `stop-${name}`,
  says: `SIGSTOP of the ${name} of the master, until it is replaced`,
  rows,
  run: (fleet, random) => amid(fleet, random, () => fleet.replace(fleet.master, child, 'SIGSTOP')),
})

export const freezes: readonly Scenario[] = [
  hanging('worker', 'MWorker-0', [15, 26]),
  hanging('publisher', 'publisher', [15]),
  {
    name: 'stop-supervisor',
    says: 'SIGSTOP of the supervisor for some seconds',
    rows: [5, 15],
    run: (fleet, random) => freeze(fleet, random, [[fleet.master, 'main']]),
  },
  {
    name: 'stop-master',
    says: 'SIGSTOP of all processes of the master for some seconds, while jobs run and end',
    rows: [5],
    run: (fleet, random) => freeze(fleet, random, everything(fleet.master)),
  },
  {
    name: 'stop-minion',
    says: 'SIGSTOP of one minion for some seconds; its job processes go on',
    rows: [5, 8],
    run: (fleet, random) => freeze(fleet, random, [[fleet.minion(random.pick(fleet.ids)), 'main']]),
  },
  {
    name: 'stop-jobs',
    says: 'SIGSTOP of the job processes of one minion for some seconds',
    rows: [5],
    run: (fleet, random) => freeze(fleet, random, [[fleet.minion(random.pick(fleet.ids)), 'JobProcess']]),
  },
  {
    name: 'stop-all',
    says: 'SIGSTOP of all processes of the master and of the minions for some seconds',
    rows: [5, 8],
    run: (fleet, random) => freeze(fleet, random, fleet.daemons.flatMap(everything)),
  },
]
