/**
 * `npm run bench:reconnect -- [--minions 2000] [--processes 2]`
 *
 * How long the minions of a master take to come back after it was stopped, and after it was killed: from the moment when the
 * master is ready again until each of them has reconnected, signed in and asked for the jobs that it has missed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Cluster } from '../harness/daemons.ts'
import { Fleet } from './fleet.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: { minions: { type: 'string', default: '2000' }, processes: { type: 'string', default: '2' } },
})
const minions = Number(options.minions)
const POLL_MS = 50
const MAX_WAIT_MS = 120_000

const cluster = await Cluster.open()
const { config } = cluster
const rows = [['the master was', 'ready again after', 'first minion back', 'half of them', 'all of them']]
let fleet: Fleet | undefined
try {
  const address = { host: '127.0.0.1', port: config.ret_port, ownTopics: true, reconnects: true }
  fleet = await Fleet.open({
    minions,
    processes: Number(options.processes),
    address,
    pkiDir: config.pki_dir,
  })
  for (const [index, how] of (['stopped', 'killed'] as const).entries()) {
    const away = performance.now()
    if (how === 'stopped') await cluster.master.stop()
    else await cluster.master.killAll()
    await cluster.startMaster()
    const ready = performance.now()
    const reached: string[] = []
    for (const count of [1, Math.ceil(minions / 2), minions]) {
      for (let back = 0; back < count; await delay(POLL_MS)) {
        back = await fleet.countBack(index + 1)
        if (performance.now() - ready > MAX_WAIT_MS) throw new Error(`Only ${back} of ${minions} are back.`)
      }
      reached.push(`${((performance.now() - ready) / 1000).toFixed(1)} s`)
    }
    rows.push([how, `${((ready - away) / 1000).toFixed(1)} s`, ...reached])
  }
  console.log(`${minions} minions, ${options.processes} processes`)
  for (const line of table(rows)) console.log(line)
} finally {
  fleet?.close()
  await cluster.close()
}
