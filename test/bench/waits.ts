/**
 * `npm run bench:waits -- [--waits 2000] [--minions 20]`
 *
 * What so many waits at a time on one link cost the program that waits, as `salt-api` does: jobs that are answered, and jobs
 * for minions that are silent, about which `saltutil.find_job` is asked until they are given up.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { returnsOf } from '../harness/returns-of.ts'
import { startOurs } from './masters.ts'
import { openFleet } from './measure.ts'
import { crypto, LocalClient, loadMasterConfig } from './product.ts'

const { values: options } = parseArgs({
  options: { waits: { type: 'string', default: '2000' }, minions: { type: 'string', default: '20' } },
})
const waits = Number(options.waits)
const minions = Number(options.minions)

/** Accepted, and never there. */
const MUTE = 'mute'

async function measure(what: string, request: (wait: number) => object): Promise<void> {
  global.gc?.()
  const before = { cpu: process.cpuUsage(), memory: process.memoryUsage().rss, started: performance.now() }
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 50)
  const states = new Map<string, number>()
  await Promise.all(
    Array.from({ length: waits }, async (_, wait) => {
      for await (const { state } of await client.cmdIter(request(wait) as never))
        states.set(state, (states.get(state) ?? 0) + 1)
    }),
  )
  clearInterval(timer)
  const { user, system } = process.cpuUsage(before.cpu)
  const seconds = (performance.now() - before.started) / 1000
  const memory = (most - before.memory) / waits / 1000
  const shown = [...states].map(([state, count]) => `${count} ${state}`).join(', ')
  console.log(
    `${waits} waits, ${what}: ${((user + system) / 1e6).toFixed(2)} s of processor time in ${seconds.toFixed(1)} s, ` +
      `${memory.toFixed(1)} kB each at most; ${shown}`,
  )
}

const master = await startOurs({})
const fleet = await openFleet(master, minions, 1)
const { config } = loadMasterConfig({ configDir: master.configDir })
const folder = join(config.pki_dir, 'minions')
await mkdir(folder, { recursive: true })
await writeFile(join(folder, MUTE), (await crypto.PrivateKey.generate(2048)).publicKey.pem)
const client = await LocalClient.connect(config)
try {
  await returnsOf(client, { tgt: 'sim-*', fun: 'test.ping' })
  const common = { fun: 'test.ping', tgtType: 'list' }
  await measure('answered', (wait) => ({ ...common, tgt: [`sim-${wait % minions}`], timeout: 60 }))
  await measure('silent', () => ({ ...common, tgt: [MUTE], timeout: 5, gatherJobTimeout: 10, check: false }))
} finally {
  await client.close()
  fleet.close()
  await master.close()
}
