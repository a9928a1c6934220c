import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MasterConfig } from '../../../../core/config/index.ts'
import type { BatchOrder } from '../../../../core/jobs/batches.ts'
import { JobCache } from '../../../../core/jobs/job-cache.ts'
import { missingReturns, recordMissingReturns } from '../../../../core/master/returners/missing-returns.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { until } from '../../../harness/until.ts'

const JID = '20300101000000000000'
let folder: string
let jobs: JobCache
let now = 1_000_000
const open = () => JobCache.open(folder, { sinks: ['store'], clock: { now: () => now } })
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-missing-')
  jobs = open()
})
afterEach(async () => {
  await jobs.close()
  await removeFolder(folder)
})

const known = {
  master: 'salt_master',
  accepted: new Set(['web1', 'web2', 'web3', 'web4']),
  lost: new Set(['web3']),
}

test('each minion that has not returned has a row with its state', async () => {
  const load = { fun: 'cmd.run', arg: ['sleep 9'], user: 'ann', tgt: '*', tgt_type: 'glob' }
  await jobs.create(JID, load, ['web1', 'web2', 'web3', 'web4', 'web5', known.master])
  await jobs.saveReturn(JID, 'web1', { return: true })
  await jobs.noteStart(JID, 'web2')
  const rows = missingReturns(jobs, JID, known)
  expect(rows.map(({ id, state }) => [id, state])).toEqual([
    ['web2', 'started'],
    ['web3', 'not_connected'],
    ['web4', 'published'],
    ['web5', 'key_not_accepted'],
  ])
  expect(rows[0]).toMatchObject({
    jid: JID,
    fun: 'cmd.run',
    fun_args: ['sleep 9'],
    success: false,
    retcode: 255,
  })
  expect(rows[1]?.return).toContain('Minion did not return. State: not_connected.')
})

test('a row is sent only while there is no return, and each job is checked once', async () => {
  await jobs.create(JID, { fun: 'test.ping', arg: [] }, ['web1', 'web2'])
  const rows = missingReturns(jobs, JID, known)
  await jobs.saveReturn(JID, 'web1', { return: true })
  await jobs.sendMissing(JID, rows)
  const sent = (await jobs.outbox.next('store'))?.entries.flatMap(({ item }) =>
    item.kind === 'return' ? [[item.ret.id, item.ret.state]] : [],
  )
  expect(sent).toEqual([
    ['web1', undefined],
    ['web2', 'published'],
  ])
  now += 1000
  expect(jobs.settled.open(now)).toEqual([JID])
  await jobs.settled.note(now)
  expect(jobs.settled.open(now + 1000)).toEqual([])
})

/** Looks at once and again, a second after a job was published, until it is closed. */
const tell = () => {
  const places = { pki_dir: join(folder, 'pki'), sock_dir: join(folder, 'run') }
  const config = { ...places, missing_returns_after: 1, loop_interval: 0.01 } as MasterConfig
  return recordMissingReturns(config, jobs, quietLog, { clock: { now: () => now } })
}

/** Job, minion and sentence of each row that waits for the store. */
const rows = () =>
  jobs.outbox
    .after('store', -1)
    .flatMap(({ item }) =>
      item.kind === 'return' ? [`${item.ret.jid} ${item.ret.id} ${item.ret.return}`] : [],
    )

test('a minion that may not match the target has a row only if the job began there', async () => {
  const minions = ['web1', 'web2', 'web3']
  await jobs.create(JID, { fun: 'test.ping', arg: [] }, minions, { unknown: ['web2', 'web3'] })
  await jobs.noteStart(JID, 'web3')
  expect(missingReturns(jobs, JID, known).map(({ id }) => id)).toEqual(['web1', 'web3'])
})

test('rows of a job are sent once, also after a restart of the master, and those due meanwhile are sent, too', async () => {
  const later = JID.replace(/0$/, '1')
  await jobs.create(JID, { fun: 'test.ping', arg: [] }, ['web1'])
  now += 2000
  let telling = tell()
  await until('the row', () => rows().length === 1)
  await telling.close()
  await jobs.create(later, { fun: 'test.ping', arg: [] }, ['web1'])
  await jobs.close()
  jobs = open()
  now += 2000
  telling = tell()
  await until('the other row', () => rows().length === 2)
  await until('all to be looked at', () => jobs.settled.open(now - 1000).length === 0)
  await telling.close()
  expect(rows().map((row) => row.slice(0, 20))).toEqual([JID, later])
})

test('at the end of a batch minions without a wave have a row; waves are jobs of their own', async () => {
  const batch = jobs.batches
  const order = { fun: 'test.ping', arg: [], user: 'root' } as unknown as BatchOrder
  await jobs.create(JID, { fun: 'test.ping', arg: [] }, ['done', 'gone', 'down', 'queued'])
  await batch.add(JID, order, ['done', 'gone', 'down', 'queued'])
  await batch.begin(JID, { ping: JID, slots: 1 }, [])
  now += 2000
  const telling = tell()
  await until('a look', () => jobs.settled.open(now - 1000).length === 1)
  now += 2000
  await batch.update(
    JID,
    new Map([
      ['done', { state: 'done' }],
      ['gone', { state: 'gone' }],
      ['queued', { state: 'queued' }],
    ]),
  )
  expect(rows()).toEqual([])
  await batch.finish(JID, 'It was stopped on request.')
  await until('two rows', () => rows().length === 2)
  await telling.close()
  const reason =
    'State: cancelled. The batch ended before the job was sent to this minion. It was stopped on request.'
  expect(rows()).toEqual([
    `${JID} down Minion did not return. ${reason}`,
    `${JID} queued Minion did not return. ${reason}`,
  ])
})
