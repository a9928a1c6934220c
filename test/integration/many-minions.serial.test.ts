/** A fleet of independent minions, with keys, sessions and connections of their own, in two processes beside a real master. */
import { afterEach, expect, test } from 'vitest'
import { jobCacheDirectory } from '../../core/config/cachedir.ts'
import { JobCache } from '../../core/jobs/job-cache.ts'
import { Fleet } from '../bench/fleet.ts'
import { Cluster } from '../harness/daemons.ts'

const MINIONS = 500
const ROUNDS = 3

let cluster: Cluster
let fleet: Fleet | undefined
afterEach(async () => {
  fleet?.close()
  await cluster?.close()
})

test(`${MINIONS} minions sign in, and each answers test.ping ${ROUNDS} times; every return is stored and counted`, async () => {
  cluster = await Cluster.open()
  const { config } = cluster
  const address = { host: '127.0.0.1', port: config.ret_port, ownTopics: true }
  fleet = await Fleet.open({ minions: MINIONS, processes: 2, address, pkiDir: config.pki_dir })
  const ids = Array.from({ length: MINIONS }, (_, index) => `sim-${index}`).sort()
  const client = await cluster.client()
  const cache = JobCache.open(jobCacheDirectory(config))
  for (let round = 0; round < ROUNDS; round++) {
    const run = await client.cmdIter({ tgt: '*', fun: 'test.ping', timeout: 30 })
    const answered: string[] = []
    for await (const result of run)
      if (result.state === 'returned' && result.return === true) answered.push(result.id)
    expect(answered.sort()).toEqual(ids)
    expect([...cache.returns(run.jid).keys()].sort()).toEqual(ids)
  }
  await cache.close()
  await client.close()
})
