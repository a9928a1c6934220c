/** The master refuses returns and events of a job it knows from minions that are not in its target. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { MASK } from '../../core/base/secret.ts'
import { decode } from '../../core/codec/index.ts'
import { tags } from '../../core/events/index.ts'
import { runPath } from '../../core/runs/running-runs.ts'
import { storeRun, storeStart } from '../../core/runs/stored-run.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

const OTHER = '20261120120000123456'

let master: InProcessMaster
afterEach(() => master.close())

/** A master with two minions that are signed in. */
async function open(options: Record<string, unknown> = {}) {
  master = await InProcessMaster.open({ options })
  const minions: Record<string, Peer> = {}
  for (const id of ['wire1', 'evil2']) await signIn(id)
  async function signIn(id: string): Promise<void> {
    const peer = await Peer.named(id)
    minions[id] = peer
    await master.file(id, peer.key.publicKey)
    await peer.signIn((frame) => master.answer(frame))
  }
  async function send(id: string, load: object): Promise<unknown> {
    const request = minions[id]!.seal({ id, ...load })
    return request.open(await master.answer(request.frame))
  }
  const ret = (id: string, jid: string) =>
    send(id, { cmd: '_return', jid, fun: 'test.ping', fun_args: [], return: id, retcode: 0, success: true })
  return { send, ret, signIn }
}

async function publish(tgt: unknown, tgt_type = 'glob', kwargs = {}): Promise<string> {
  const request = { cmd: 'publish', tgt, tgt_type, fun: 'test.ping', arg: [], kwargs }
  const answer = decode(
    await master.answer(packClear({ ...request, user: 'root', key: await master.rootKey() })),
  )
  return (answer as { load: { jid: string } }).load.jid
}

const announced = () => master.events.filter(({ tag }) => tag.includes('/ret/')).map(({ data }) => data.id)
const stored = (jid: string) => [...master.context.jobs.returns(jid).keys()]
const told = () => master.logged.filter((line) => line.includes('which was not sent to it'))

test.each<[unknown, string]>([
  ['wire1', 'glob'],
  ['wire.', 'pcre'],
  [['wire1'], 'list'],
  ['id:wire1', 'grain'],
  ['G@id:wire1 or L@wire1', 'compound'],
])(
  'a return for a job for %j (%s) is accepted from its target, and refused from other minions',
  async (tgt, type) => {
    const { ret } = await open()
    for (const id of ['wire1', 'evil2']) await master.context.minions.save(id, { grains: { id } })
    const jid = await publish(tgt, type)
    expect(await ret('evil2', jid)).toBe(false)
    expect(await ret('wire1', jid)).toBeNull()
    expect(await ret('evil2', jid)).toBe(false)
    expect([announced(), stored(jid)]).toEqual([['wire1'], ['wire1']])
  },
)

test('refused returns are logged once for each minion and job', async () => {
  const { ret } = await open()
  const jid = await publish('wire1')
  for (let n = 0; n < 3; n++) await ret('evil2', jid)
  expect(told()).toHaveLength(1)
  expect(told()[0]).toContain(`warn evil2 sent a return or an event for job ${jid}`)
})

test('a master without a job cache refuses returns of other minions as well', async () => {
  const { ret } = await open({ job_cache: false })
  const jid = await publish('wire1')
  expect([await ret('evil2', jid), await ret('wire1', jid)]).toEqual([false, null])
  expect(announced()).toEqual(['wire1'])
})

test('arguments in the returns of Python minions are stored and announced with secret words masked', async () => {
  const { send } = await open()
  const jid = await publish('wire1')
  const fun_args = ['a', { password: 'c4n4ry' }]
  await send('wire1', { cmd: '_return', jid, fun: 'some.thing', fun_args, return: true, retcode: 0 })
  expect(master.context.jobs.returns(jid).get('wire1')).toMatchObject({ fun_args: ['a', { password: MASK }] })
  expect(JSON.stringify(master.events)).not.toContain('c4n4ry')
})

test('events of a job are fired for the minions of its target only', async () => {
  const { send } = await open()
  const jid = await publish('wire1')
  const before = master.events.length
  for (const id of ['wire1', 'evil2'])
    for (const tag of [tags.jobStart(jid, id), `salt/job/${jid}/prog/${id}/1`])
      await send(id, { cmd: '_minion_event', tag, data: { id } })
  expect(master.events.slice(before).map(({ tag }) => tag)).toEqual([
    tags.jobStart(jid, 'wire1'),
    `salt/job/${jid}/prog/wire1/1`,
  ])
})

test('a return for a running or finished runner is refused from every minion', async () => {
  const { ret } = await open()
  const run = { jid: OTHER, fun: 'runner.test.arg', user: 'root', fun_args: [] }
  const { jobs } = master.context
  await storeStart(master.config, run, jobs)
  expect(await ret('evil2', OTHER)).toBe(false)
  await storeRun(master.config, { ...run, return: 1, success: true }, jobs)
  expect(await ret('evil2', OTHER)).toBe(false)
  expect(stored(OTHER)).toEqual([master.config.id])
  const unstored = OTHER.replace(/6$/, '7')
  const path = runPath(master.config, unstored)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, '')
  expect(await ret('evil2', unstored)).toBe(false)
  expect(announced()).toEqual([])
})

test('a return for a job that is unknown to the master is accepted: another master may have published it', async () => {
  const { ret } = await open()
  expect([await ret('wire1', OTHER), await ret('evil2', OTHER)]).toEqual([null, null])
  expect(stored(OTHER)).toEqual(['evil2', 'wire1'])
})

test('a return of a call that the minion made by itself is accepted', async () => {
  const { ret, send } = await open()
  expect(await ret('wire1', 'req')).toBeNull()
  expect(await send('wire1', { cmd: '_return', jid: 'nocache', fun: 'test.ping', return: 1 })).toBeNull()
  expect(master.events.map(({ tag }) => tag)).toContain(tags.jobReturn('nocache', 'wire1'))
})

test('a minion whose new grains match the target may return, even if the master did not know them when it published', async () => {
  const { ret, signIn } = await open()
  await master.context.minions.save('wire1', { grains: { role: 'db' } })
  await master.context.minions.save('evil2', { grains: { role: 'web' } })
  const list = await publish(['wire1', 'wire3'], 'list')
  const glob = await publish('wire*')
  const grain = await publish('role:db', 'grain')
  await signIn('wire3')
  expect([await ret('wire3', list), await ret('wire3', glob)]).toEqual([null, null])
  expect(await ret('evil2', grain)).toBe(false)
  await master.context.minions.save('wire3', { grains: { role: 'db' } })
  expect(await ret('wire3', grain)).toBeNull()
})
