/**
 * `npm run chaos:cluster -- [--transport zeromq|nats] [--cut] [--rounds N] [--seed N] [--seconds N] [--first N] [--logs DIRECTORY]`
 *
 * Kills and stops the masters of a cluster in turn, and the nodes of its NATS, or with `--cut` drops the packets to and from them (as
 * root), while jobs are published by all masters that take them. Then all faults end, and each job is judged on each minion: it began at most once, its one return is in the
 * store byte for byte, and all masters show the same. `--first`: the fault to begin with, from 0. `--logs`: where the logs of the daemons are
 * put if a job is judged broken.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Cluster } from '../harness/daemons.ts'
import { Random } from '../harness/random.ts'
import { type Fault, openCluster, type Tested } from './cluster-fleet.ts'
import { judgeCluster } from './cluster-verdict.ts'
import { enterNamespace } from './dropped-packets.ts'

const { values: options } = parseArgs({
  options: {
    transport: { type: 'string', default: 'nats' },
    rounds: { type: 'string', default: '6' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '8' },
    first: { type: 'string', default: '0' },
    logs: { type: 'string' },
    cut: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
})

const LONGEST_MS = 1_000

/** Publish jobs by a master until the signal aborts. Those that it does not take are not counted. */
async function publish(tested: Tested, master: Cluster, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const jid = await tested.publish(master, random.between(0, LONGEST_MS)).catch(() => undefined)
    await delay(jid === undefined ? 500 : random.between(50, 400))
  }
}

async function round(tested: Tested, fault: Fault, random: Random): Promise<void> {
  const load = new AbortController()
  const lanes = tested.masters.map((master) => publish(tested, master, random, load.signal))
  try {
    await delay(1_000)
    await fault.fail(random)
    await delay(Number(options.seconds) * 1_000)
    await fault.heal()
    await delay(2_000)
  } finally {
    load.abort()
    await Promise.all(lanes)
  }
}

function keepLogs(folder: string): void {
  mkdirSync(folder, { recursive: true })
  for (const { output, options } of [...tested.masters.map(({ master }) => master), ...tested.minions])
    writeFileSync(join(folder, String(options.id)), output)
}

const transport = options.transport === 'zeromq' ? 'zeromq' : 'nats'
const random = new Random(Number(options.seed), transport)
if (options.cut) enterNamespace()
const tested = await openCluster(transport, options.cut)
try {
  const { faults } = tested
  for (let n = 0; n < Number(options.rounds); n++) {
    const fault = faults[(n + Number(options.first)) % faults.length]
    if (!fault) break
    const before = tested.jobs.size
    await round(tested, fault, random)
    console.error(`${fault.name}: ${tested.jobs.size - before} jobs`)
  }
  const verdict = await judgeCluster(tested)
  for (const line of verdict.broken) console.error(line)
  if (options.logs && verdict.broken.length > 0) keepLogs(options.logs)
  console.log(
    `${transport}: ${tested.masters.length} masters, ${tested.jobs.size} jobs, ${verdict.pairs} pairs: ${verdict.returned} returned, ${verdict.lost} lost, ${verdict.twice} twice, ${verdict.different} shown differently`,
  )
  process.exitCode = verdict.broken.length > 0 ? 1 : 0
} finally {
  await tested.close()
}
