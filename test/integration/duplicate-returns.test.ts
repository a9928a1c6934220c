/** A minion sends a return until it is acknowledged, so the master may get it more than once. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { tags } from '../../core/events/index.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

const JID = '20261120120000123456'
const ret = (value: unknown) => ({
  cmd: '_return',
  jid: JID,
  fun: 'test.echo',
  fun_args: [value],
  return: value,
  retcode: 0,
  success: true,
})

let master: InProcessMaster
let peer: Peer

beforeEach(async () => {
  master = await InProcessMaster.open()
  peer = await Peer.named('wire1')
  await master.file('wire1', peer.key.publicKey)
  await peer.signIn((frame) => master.answer(frame))
})
afterEach(() => master.close())

/** Seal it anew, as each attempt of a minion is, and give the decrypted answer. */
async function send(value: unknown): Promise<unknown> {
  const request = peer.seal(ret(value))
  return request.open(await master.answer(request.frame))
}

const announced = () => master.events.filter(({ tag }) => tag === tags.jobReturn(JID, 'wire1'))
const row = () => master.context.jobs.returns(JID).get('wire1')?.return

test('a return that is sent five times, at once or in turn, is acknowledged each time: one row, one event', async () => {
  expect(await Promise.all([1, 2, 3, 4, 5].map(() => send('first')))).toEqual([null, null, null, null, null])
  for (let n = 0; n < 5; n++) expect(await send('first')).toBeNull()
  expect([...master.context.jobs.returns(JID).keys()]).toEqual(['wire1'])
  expect(announced()).toHaveLength(1)
})

test('a message that is sent five times unchanged: one row, one event', async () => {
  const request = peer.seal(ret('first'))
  for (let n = 0; n < 5; n++) expect(request.open(await master.answer(request.frame))).toBeNull()
  expect(row()).toBe('first')
  expect(announced()).toHaveLength(1)
})

test('a different return for the same job is acknowledged and logged, and does not replace the first one', async () => {
  for (const value of ['first', 'second', { third: 3 }, ['first'], 'first'])
    expect(await send(value)).toBeNull()
  expect(row()).toBe('first')
  expect(announced().map(({ data }) => data.return)).toEqual(['first'])
  const told = master.logged.filter((line) => line.includes(`wire1 returned job ${JID} a second time`))
  expect(told).toHaveLength(3)
})

test('a return that comes again after the master was restarted is a duplicate, too', async () => {
  await send('first')
  await master.restart()
  expect(await send('first')).toBeNull()
  expect(await send('second')).toBeNull()
  expect(row()).toBe('first')
  expect(announced()).toHaveLength(1)
})
