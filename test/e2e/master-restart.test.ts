/** A command that waits for returns while its master is started again: it shows every one of them. */
import { readdir, rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { Cluster } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

const OUTAGE_MS = 2_000

let cluster: Cluster
afterEach(() => cluster?.close())

const begun = async () => (await readdir(cluster.root)).filter((name) => name.startsWith('began-')).length

/** Start `salt`, kill the master when the job has begun everywhere, start it again after a while; what `salt` came to. */
async function throughRestart(script: string) {
  cluster = await Cluster.open({
    minions: ['web1', 'web2'],
    minion: { recon_default: 3_000, recon_max: 0, recon_randomize: false },
  })
  const command = `mktemp ${cluster.root}/began-XXXXXX >/dev/null; ${script}`
  const salt = cluster.spawned('salt', '-t', '1', '*', 'cmd.run', command, '--out', 'txt')
  await until('the job to begin', async () => (await begun()) === 2)
  await cluster.master.killAll()
  await delay(OUTAGE_MS)
  await cluster.startMaster()
  const { stdout, stderr, code } = await salt
  return { returned: stdout.trim().split('\n').sort(), stderr, code }
}

const complete = { returned: ['web1: done', 'web2: done'], stderr: '', code: 0 }

test('when the job outlives the outage', async () => {
  expect(await throughRestart('sleep 12; echo done')).toEqual(complete)
})

test('when the job ends while the master is down', async () => {
  expect(await throughRestart('sleep 1; echo done')).toEqual(complete)
})

test('a minion reports its grains to a master that has lost them', async () => {
  cluster = await Cluster.open({ minions: ['web1'], minion: { recon_default: 100, recon_max: 0 } })
  const known = async () => (await cluster.command('salt-run', 'cache.grains', 'tgt=web1')).stdout
  await until('the grains to be known', async () => (await known()).includes('osfinger'))
  await cluster.master.stop()
  await rm(cluster.config.cachedir, { recursive: true })
  await cluster.startMaster()
  await until('the grains to be known again', async () => (await known()).includes('osfinger'))
})
