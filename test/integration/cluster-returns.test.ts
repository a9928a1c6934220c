/** Returns for jobs of another master of the cluster: the minions of a job are in the store that the masters share. */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Returner } from '../../core/author/returner.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'
import { returnerWith } from '../harness/returner.ts'

const JID = '20261126101112131415'

let folder: string
let master: InProcessMaster
let store: Returner

beforeEach(async () => {
  folder = await temporaryFolder()
  const options = { sqlite3: { database: join(folder, 'jobs.db') } }
  store = await returnerWith('sqlite3', options)
  await store.migrate?.()
  master = await InProcessMaster.open({
    options: { ...options, id: 'two', cluster_id: 'north', master_job_cache: 'sqlite3' },
  })
})
afterEach(async () => {
  await master.close()
  await store.close?.()
  await removeFolder(folder)
})

const publishElsewhere = (...minions: string[]) =>
  store.saveLoad?.({ jid: JID, load: { fun: 'test.ping', tgt: minions, tgt_type: 'list' }, minions })

async function minion(id: string): Promise<(jid: string) => Promise<unknown>> {
  const peer = await Peer.named(id)
  await master.file(id, peer.key.publicKey)
  await peer.signIn((frame) => master.answer(frame))
  return async (jid) => {
    const sealed = peer.seal({ cmd: '_return', id, jid, fun: 'test.ping', return: true, retcode: 0 })
    return sealed.open(await master.answer(sealed.frame))
  }
}

const returned = () => [...master.context.jobs.returns(JID)].map(([id]) => id)

test('a return for a job of another master is accepted from its minions, and refused from others', async () => {
  const [web1, web2, evil] = await Promise.all(['web1', 'web2', 'evil'].map(minion))
  await publishElsewhere('web1', 'web2')
  expect(await web1?.(JID)).toBeNull()
  expect(await evil?.(JID)).toBe(false)
  expect(await web2?.(JID)).toBeNull()
  expect(returned()).toEqual(['web1', 'web2'])
})

test('a return that arrives before the job is in the store waits for it', async () => {
  const [web1, evil] = await Promise.all(['web1', 'evil'].map(minion))
  const answers = Promise.all([web1?.(JID), evil?.(JID)])
  await delay(50)
  await publishElsewhere('web1')
  expect(await answers).toEqual([null, false])
  expect(returned()).toEqual(['web1'])
})

test('a minion that was added to a job later may return for it', async () => {
  const [web1, web2] = await Promise.all(['web1', 'web2'].map(minion))
  await publishElsewhere('web1')
  expect(await web1?.(JID)).toBeNull()
  await store.saveMinions?.(JID, ['web2'])
  expect(await web2?.(JID)).toBeNull()
})

test('no minion may return for a run of a runner on another master', async () => {
  await store.saveLoad?.({ jid: JID, load: { fun: 'runner.jobs.active', tgt: '*' }, minions: [] })
  expect(await (await minion('evil'))(JID)).toBe(false)
})

test('a return for a job that no master has stored is kept', async () => {
  expect(await (await minion('web1'))(JID)).toBeNull()
  expect(returned()).toEqual(['web1'])
})
