/** Problems that only an administrator can fix are logged: damaged records and returns, malformed targets. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { ReturnSpool } from '../../core/jobs/return-spool.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

let master: InProcessMaster | undefined
let cluster: InProcessCluster | undefined
afterEach(async () => {
  await cluster?.close()
  await master?.close()
  cluster = master = undefined
})

/** Change one letter of a text wherever it stands in a file. */
async function damage(path: string, text: string): Promise<void> {
  const bytes = await readFile(path)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) bytes[at] = 0x2a
  await writeFile(path, bytes)
}

test('a damaged record of the master is left out and logged as an error', async () => {
  master = await InProcessMaster.open()
  const jid = '20261121120000000001'
  await master.context.jobs.create(jid, { fun: 'recognisable.text' }, ['web1'])
  await master.restart(async () =>
    damage(join(master!.config.cachedir, 'job_cache', 'jobs.mdb'), 'recognisable'),
  )
  expect(master.context.jobs.load(jid)).toBeUndefined()
  expect(master.logged.filter((line) => line.startsWith('error'))).toEqual([
    expect.stringMatching(/The record .*20261121120000000001.* is damaged and was left out/),
  ])
})

test('a damaged return in the spool of a minion is logged, and the others arrive', async () => {
  cluster = await InProcessCluster.open({ transport: 'memory', minions: ['web1'] })
  const spool = join(cluster.master.root, 'web1', 'cache', 'spool')
  await cluster.stopMinion('web1')
  const [lost, kept] = ['20261121120000000001', '20261121120000000002'] as const
  const before = ReturnSpool.open(spool)
  for (const [jid, text] of [
    [lost, 'recognisable'],
    [kept, 'whole'],
  ] as const) {
    const ret = {
      cmd: '_return',
      id: 'web1',
      jid,
      fun: 'test.echo',
      fun_args: [],
      return: text,
      retcode: 0,
      success: true,
    }
    await before.add({ jid, ret })
  }
  await before.close()
  await damage(ReturnSpool.path(spool), 'recognisable')
  await cluster.startMinion('web1')
  await cluster.returned(kept, 'web1')
  expect(cluster.logged('web1')).toContainEqual(
    expect.stringMatching(/^error The record .* is damaged and was left out/),
  )
})

test('a malformed target is logged once, and its job is not published', async () => {
  master = await InProcessMaster.open()
  for (const id of ['wire1', 'wire2']) await master.file(id, (await Peer.named(id)).key.publicKey)
  const load = { cmd: 'publish', tgt: 'wire* and', tgt_type: 'compound', fun: 'test.ping', arg: [] }
  const reply = decode(await master.answer(packClear({ ...load, user: 'root', key: await master.rootKey() })))
  expect(reply).toMatchObject({ load: { jid: null, minions: [] } })
  expect(master.logged.filter((line) => line.startsWith('warn'))).toEqual([
    "warn A target is invalid and matches no minion: The compound target is malformed at character 10: a target is missing after 'and'.",
  ])
})
