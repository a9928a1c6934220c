import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { makeStartReport } from '../../core/wire/minion-start.ts'
import { makeSyndicReport, makeSyndicReturn, type SyndicReturn } from '../../core/wire/syndic.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

const JID = '20261121080000000001'
let master: InProcessMaster

const open = async (options: Record<string, unknown> = { order_masters: true }): Promise<Peer> => {
  master = await InProcessMaster.open({ options })
  const low = await Peer.named('wire1')
  const direct = await Peer.named('wire2')
  for (const peer of [low, direct]) await master.file(peer.id, peer.key.publicKey)
  await low.signIn((frame) => master.answer(frame))
  await master.context.jobs.create(
    JID,
    { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', user: 'root', jid: JID },
    [direct.id],
    { awaits: [low.id] },
  )
  return low
}

const send = async (peer: Peer, load: Record<string, unknown>): Promise<unknown> => {
  const { frame, open: read } = peer.seal(load)
  return read(await master.answer(frame))
}

const start = { token: 'abcdef', address: '::1', host: 'h', pid: 7, syndic: true }
const becomeSyndic = (peer: Peer) => send(peer, makeStartReport(peer.id, start))

const returnsOf = (ids: readonly string[], more: Partial<SyndicReturn> = {}) =>
  makeSyndicReturn('wire1', [
    {
      jid: JID,
      fun: 'test.ping',
      ...more,
      returns: new Map(ids.map((id) => [id, { return: true, retcode: 0, success: true }])) as never,
    },
  ])

const report = (minions: readonly string[], awaits: readonly string[] = []) =>
  makeSyndicReport('wire1', { jid: JID, minions, unknown: [], waiting: [], awaits })

const returned = () => [...master.context.jobs.returns(JID).keys()]

beforeEach(() => {
  master = undefined as never
})
afterEach(() => master?.close())

test('a master without order_masters accepts neither reports nor returns of a syndic', async () => {
  const low = await open({})
  expect(await becomeSyndic(low)).not.toHaveProperty('takes_syndics')
  expect(await send(low, report(['web1']))).toMatchObject({
    refused: expect.stringContaining('order_masters'),
  })
  expect(await send(low, returnsOf(['web1']))).toMatchObject({
    refused: expect.stringContaining('order_masters'),
  })
  expect(returned()).toEqual([])
})

test('the option syndics lists the minions that may report and return for other minions', async () => {
  const low = await open({ order_masters: true, syndics: ['syndic-*'] })
  expect(await send(low, report(['web1']))).toMatchObject({
    refused: 'wire1 may not speak for other minions (syndics of this master).',
  })
  expect(await send(low, returnsOf(['web1']))).toMatchObject({ refused: expect.any(String) })
  expect(returned()).toEqual([])
})

test('returns of minions that a syndic has named are stored and announced as if they came from them', async () => {
  const low = await open()
  expect(await becomeSyndic(low)).toMatchObject({ takes_syndics: true })
  expect(await send(low, report(['web1', 'web2']))).toEqual({ taken: true })
  expect(await send(low, returnsOf(['web1', 'web2']))).toEqual({ refused: [] })
  expect(returned()).toEqual(['web1', 'web2'])
  expect(master.context.jobs.record(JID)).toMatchObject({ minions: ['wire2', 'web1', 'web2'] })
  expect(master.context.jobs.record(JID)).not.toHaveProperty('awaits')
  const tags = master.events.map(({ tag }) => tag)
  expect(tags).toEqual(
    expect.arrayContaining([JID, `salt/job/${JID}/syndic/wire1`, `salt/job/${JID}/ret/web1`]),
  )
})

test('a job is awaited while the report of a syndic names others below it', async () => {
  const low = await open()
  await becomeSyndic(low)
  await send(low, report(['web1'], ['lower']))
  expect(master.context.jobs.record(JID)).toMatchObject({ awaits: ['wire1'] })
  await send(low, report(['web1', 'web2']))
  expect(master.context.jobs.record(JID)).toMatchObject({ minions: ['wire2', 'web1', 'web2'] })
  expect(master.context.jobs.record(JID)).not.toHaveProperty('awaits')
})

test('a syndic can neither name nor return for a minion with a key on this master', async () => {
  const low = await open()
  await becomeSyndic(low)
  await send(low, report(['wire2', 'web1']))
  expect(await send(low, returnsOf(['wire2', 'web1']))).toEqual({ refused: [[JID, 'wire2']] })
  expect(returned()).toEqual(['web1'])
  expect(master.logged.join('\n')).toContain('such as wire2. They are dropped.')
})

test('a syndic of salt-ts returns only for minions that it has named in the job', async () => {
  const low = await open()
  await becomeSyndic(low)
  await send(low, report(['web1']))
  expect(await send(low, returnsOf(['web1', 'web9']))).toEqual({ refused: [[JID, 'web9']] })
  expect(returned()).toEqual(['web1'])
})

test('a syndic of Python Salt names no minions: those that return are added to the job', async () => {
  const low = await open()
  expect(await send(low, returnsOf(['web1']))).toBeNull()
  expect(returned()).toEqual(['web1'])
  expect(master.context.jobs.record(JID)?.minions).toContain('web1')
})

test('an equal return by a second path is one row, without a second event', async () => {
  const low = await open()
  await send(low, returnsOf(['web1']))
  await send(low, returnsOf(['web1']))
  expect(master.events.filter(({ tag }) => tag === `salt/job/${JID}/ret/web1`)).toHaveLength(1)
})

test('a job of the master below is stored with its first returns, without its owner', async () => {
  const low = await open()
  const jid = '20261121080000000002'
  const load = { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', user: 'ann', owner: 'ann', jid }
  await send(low, returnsOf(['web1'], { jid, load }))
  expect(master.context.jobs.load(jid)).toMatchObject({
    load: { user: 'ann', below: 'wire1' },
    minions: ['web1'],
  })
  expect(master.context.jobs.load(jid)?.load).not.toHaveProperty('owner')
})

test('invalid minion ids and job ids are left out', async () => {
  const low = await open()
  expect(await send(low, returnsOf(['../x', 'a/b', 'web1']))).toBeNull()
  expect(await send(low, returnsOf(['web2'], { jid: '../../etc' }))).toBeNull()
  expect(await send(low, { cmd: '_syndic_return', load: [1, null, { jid: JID, return: 'x' }] })).toBeNull()
  expect(returned()).toEqual(['web1'])
})

test('another minion cannot fire events about minions below a syndic, even for a job it knows', async () => {
  const low = await open()
  await becomeSyndic(low)
  await send(low, report(['web1']))
  const events = [{ tag: `salt/job/${JID}/prog/web1/0`, data: { return: 1 } }]
  await send(low, { cmd: '_minion_event', events })
  expect(master.events.at(-1)?.tag).toBe(`salt/job/${JID}/prog/web1/0`)
  await send(low, { cmd: '_minion_event', events: [{ tag: `salt/job/${JID}/prog/wire2/0`, data: {} }] })
  await send(low, { cmd: '_minion_event', events: [{ tag: `salt/job/${JID}/ret/web1`, data: {} }] })
  expect(master.events.at(-1)?.tag).toBe(`salt/job/${JID}/prog/web1/0`)
})

test('a syndic of generation 2 is identified by the id in its request', async () => {
  const low = await open({ order_masters: true, minimum_auth_version: 2 })
  const old = async (load: Record<string, unknown>) => {
    const { frame, open: read } = low.sealOld(load)
    return read(await master.answer(frame))
  }
  const { load } = returnsOf(['web1'])
  expect(await old({ cmd: '_syndic_return', load: [{ ...(load as object[])[0], id: 'stranger' }] })).toEqual(
    {},
  )
  expect(await old({ cmd: '_syndic_return', load })).toBeNull()
  expect(returned()).toEqual(['web1'])
})

test.each([
  ['*', 'glob', { tgt: ['wire2'], tgt_type: 'list' }],
  ['wire.*', 'pcre', { tgt: ['(', 'E@wire.*', ')', 'and', 'L@wire2'], tgt_type: 'compound' }],
  ['wire2,web1', 'list', { tgt: 'wire2,web1', tgt_type: 'list' }],
])(
  'a user who may use certain minions only reaches no others below syndics by %s (%s)',
  async (tgt, tgt_type, sent) => {
    const low = await open({
      order_masters: true,
      publisher_acl: { ann: [{ 'wire2 or web1': ['test.ping'] }] },
    })
    await becomeSyndic(low)
    const { text: key } = SymmetricKey.generate()
    await writeFile(join(master.config.cachedir, '.ann_key'), key, { mode: 0o600 })
    const request = {
      cmd: 'publish',
      tgt,
      tgt_type,
      fun: 'test.ping',
      arg: [],
      ret: '',
      jid: '',
      user: 'ann',
      key,
    }
    await master.answer(packClear(request))
    expect(master.published.map(({ job }) => job)).toEqual([expect.objectContaining(sent)])
  },
)
