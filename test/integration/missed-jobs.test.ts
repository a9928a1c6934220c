/** Jobs that were published while a minion was not connected (`_missed_jobs`). */
import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { readMissedJobsReply } from '../../core/wire/missed-jobs.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster
let wire1: Peer
let wire2: Peer
const ask = (frame: Uint8Array) => master.answer(frame)

beforeEach(async () => {
  master = await InProcessMaster.open({ publish: async () => {} })
  wire1 = await Peer.named('wire1')
  wire2 = await Peer.named('wire2')
  for (const peer of [wire1, wire2]) {
    await master.file(peer.id, peer.key.publicKey)
    await peer.signIn(ask)
  }
})
afterEach(() => master.close())

async function publish(load: Record<string, unknown>): Promise<string> {
  const key = await master.rootKey()
  const whole = { cmd: 'publish', tgt: '*', fun: 'test.echo', arg: [], user: 'root', key, ...load }
  const reply = decode(await ask(packClear(whole))) as { load: { jid: string } }
  return reply.load.jid
}

async function request(peer: Peer, load: Record<string, unknown> = {}) {
  const sealed = peer.seal({ cmd: '_missed_jobs', ...load })
  return readMissedJobsReply(sealed.open(await ask(sealed.frame)))
}

test('a minion gets the jobs that target it and that it has not returned, oldest first, as they were published', async () => {
  const first = await publish({ arg: ['password=geheim'] })
  await publish({ tgt: 'wire2' })
  const words = [['a', '01']]
  const third = await publish({ tgt: 'wire1', fun: 'cmd.run', arg: ['a', 1], kwargs: { words } })
  const { jobs, next } = await request(wire1)
  expect(jobs.map(({ job }) => job.jid)).toEqual([first, third])
  expect(jobs[0]?.job).toMatchObject({ fun: 'test.echo', arg: ['password=geheim'], tgt: '*', user: 'root' })
  expect(next).toBeUndefined()

  const ret = { cmd: '_return', jid: first, return: 'x', retcode: 0, success: true, fun: 'test.echo' }
  await ask(wire1.seal({ ...ret, fun_args: [] }).frame)
  expect((await request(wire1)).jobs.map(({ job }) => job.jid)).toEqual([third])
  expect((await request(wire2)).jobs).toHaveLength(2)
})

test('a minion gets no job from before its key was accepted, since it may have been for another host', async () => {
  await publish({ tgt: 'wire1' })
  master.now += 2000
  const newer = await publish({ tgt: 'wire1' })
  const file = join(master.config.pki_dir, 'minions', 'wire1')
  await utimes(file, new Date(), new Date(master.now - 1000))
  expect((await request(wire1)).jobs.map(({ job }) => job.jid)).toEqual([newer])
})

test('many jobs come in several answers, each job once', async () => {
  const jids: string[] = []
  for (let n = 0; n < 5; n++) jids.push(await publish({ arg: ['x'.repeat(400_000)] }))
  const found: string[] = []
  let page = await request(wire1)
  const sizes = [page.jobs.length]
  found.push(...page.jobs.map(({ job }) => job.jid))
  while (page.next) {
    page = await request(wire1, { after: [...page.next] })
    sizes.push(page.jobs.length)
    found.push(...page.jobs.map(({ job }) => job.jid))
  }
  expect([found, sizes]).toEqual([jids, [2, 2, 1]])
})

test('jobs are given and kept for missed_jobs_seconds, also after a restart of the master', async () => {
  const old = await publish({})
  await master.restart()
  expect((await request(wire1)).jobs.map(({ job }) => job.jid)).toEqual([old])
  master.now += 61_000
  await wire1.signIn(ask)
  const young = await publish({})
  expect((await request(wire1)).jobs.map(({ job }) => job.jid)).toEqual([young])
})

test.each([[{ after: 'x' }], [{ after: [{}, 1] }], [{ after: [1e300, '20300101000000000000'] }]])(
  'an invalid request is answered: %j',
  async (load) => {
    await publish({})
    expect((await request(wire1, load)).jobs.length).toBeLessThan(2)
  },
)
