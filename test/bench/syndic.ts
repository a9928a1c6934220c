/**
 * `npm run bench:syndic -- [--minions 1000] [--processes 2] [--rounds 5] [--write]`
 *
 * `test.ping` to simulated minions of a master alone, and to those of a master below another one: what a level more costs, and whether
 * every minion returns.
 */
import { writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { Cluster } from '../harness/daemons.ts'
import { treeOf } from '../harness/processes.ts'
import { Fleet } from './fleet.ts'
import { median } from './median.ts'
import { cpuSeconds } from './processes.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: {
    minions: { type: 'string', default: '1000' },
    processes: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
})
const minions = Number(options.minions)

interface Figures {
  readonly ms: number[]
  /** Processor time of all masters and syndics for each minion, µs. */
  readonly cpu: number[]
  returned: number
}

const cpuOf = (pids: readonly number[]) =>
  pids.flatMap((pid) => treeOf(pid)).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0)

async function measure(cluster: Cluster, pids: readonly number[], figures: Figures): Promise<void> {
  const client = await cluster.client()
  const before = cpuOf(pids)
  const started = performance.now()
  const run = await client.cmdIter({ tgt: '*', fun: 'test.ping', timeout: 60 })
  figures.returned = 0
  for await (const { state } of run) if (state === 'returned') figures.returned++
  figures.ms.push(performance.now() - started)
  figures.cpu.push(((cpuOf(pids) - before) / minions) * 1e6)
  await client.close()
}

const openFleet = ({ ports, config: { pki_dir: pkiDir } }: Cluster): Promise<Fleet> => {
  const address = { host: '127.0.0.1', port: ports.request, ownTopics: true }
  return Fleet.open({ minions, processes: Number(options.processes), address, pkiDir })
}

const alone = await Cluster.open()
const top = await Cluster.open({ master: { order_masters: true } })
const low = await Cluster.open({ master: { syndic_master: `127.0.0.1:${top.ports.request}` } })
const flat: Figures = { ms: [], cpu: [], returned: 0 }
const above: Figures = { ms: [], cpu: [], returned: 0 }
const fleets: Fleet[] = []
try {
  const syndic = await low.addSyndic('low')
  fleets.push(await openFleet(alone), await openFleet(low))
  const pids = [top.master.pid, low.master.pid, syndic.pid]
  const warmUp = { ms: [], cpu: [], returned: 0 }
  await measure(alone, pids, warmUp)
  await measure(top, pids, warmUp)
  for (let round = 0; round < Number(options.rounds); round++) {
    await measure(alone, [alone.master.pid], flat)
    await measure(top, pids, above)
  }
} finally {
  for (const fleet of fleets) fleet.close()
  for (const cluster of [alone, low, top]) await cluster.close()
}
const ratio = (figure: 'ms' | 'cpu') => (median(above[figure]) / median(flat[figure])).toFixed(2)
const text = [
  '# A master of masters',
  '',
  'Written by `npm run bench:syndic -- --write`; medians of one run, in turns.',
  `\`test.ping\` to ${minions} simulated minions, of a master alone and of one below another; ${cpus().length} cores.`,
  '',
  ...table([
    ['', 'a master alone', 'from the master above', 'ratio'],
    ['minions that returned', String(flat.returned), String(above.returned), ''],
    [
      'from publishing to the last return, ms',
      median(flat.ms).toFixed(0),
      median(above.ms).toFixed(0),
      ratio('ms'),
    ],
    [
      'processor time of masters and syndic, µs per minion',
      median(flat.cpu).toFixed(0),
      median(above.cpu).toFixed(0),
      ratio('cpu'),
    ],
  ]),
  '',
].join('\n')
process.stdout.write(text)
if (options.write) await writeFile(new URL('syndic.md', import.meta.url), text)
