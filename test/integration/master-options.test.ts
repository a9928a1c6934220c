/** Options of the master that decide about single requests. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { tags } from '../../core/events/index.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { signMessage } from '../../core/wire/message-signature.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer, refused } from '../harness/peer.ts'

let master: InProcessMaster
let peer: Peer
let cluster: InProcessCluster | undefined
afterEach(async () => {
  await master?.close()
  await cluster?.close()
  cluster = undefined
})

async function open(options: Record<string, unknown>): Promise<void> {
  master = await InProcessMaster.open({ options })
  peer = await Peer.named('wire1')
  await master.file('wire1', peer.key.publicKey)
  await peer.signIn((frame) => master.answer(frame))
  master.events.length = 0
}

async function ask(load: Record<string, unknown>, changes: Record<string, unknown> = {}): Promise<unknown> {
  const request = peer.seal(load, { load: changes })
  return request.open(await master.answer(request.frame))
}

describe('request_server_ttl', () => {
  const sent = (secondsAgo: number) => ({ ts: Math.floor(master.now / 1000) - secondsAgo })

  test('refuses requests that are older, and those without a time', async () => {
    await open({ request_server_ttl: 30 })
    expect(await ask({ cmd: '_file_envs' }, sent(29))).toEqual(['base'])
    expect(await ask({ cmd: '_file_envs' }, sent(-3600))).toEqual(['base'])
    expect(await ask({ cmd: '_file_envs' }, sent(32))).toEqual(refused('bad load'))
    expect(await ask({ cmd: '_file_envs' }, { ts: 'now' })).toEqual(refused('bad load'))
  })

  test('is no limit by default', async () => {
    await open({})
    expect(await ask({ cmd: '_file_envs' }, sent(3600))).toEqual(['base'])
  })
})

describe('the signature of a return', () => {
  const ret = {
    cmd: '_return',
    id: 'wire1',
    jid: '20261121120000000001',
    fun: 'test.ping',
    fun_args: [],
    return: true,
    retcode: 0,
    success: true,
  }
  const stored = () => master.context.jobs.return(ret.jid, 'wire1')?.return
  const wrong = { ...ret, sig: Buffer.from('no signature') }

  test.each<[string, Record<string, unknown>, Record<string, unknown>, unknown]>([
    ['may be missing', {}, ret, true],
    ['may be wrong, with a warning, without drop_messages_signature_fail', {}, wrong, true],
    [
      'must be there with require_minion_sign_messages',
      { require_minion_sign_messages: true },
      ret,
      undefined,
    ],
    [
      'must be right with drop_messages_signature_fail',
      { drop_messages_signature_fail: true },
      wrong,
      undefined,
    ],
    [
      'need not be there with drop_messages_signature_fail',
      { drop_messages_signature_fail: true },
      ret,
      true,
    ],
  ])('%s', async (_, options, load, kept) => {
    await open(options)
    expect(await ask(load)).toBe(kept === undefined ? false : null)
    expect(stored()).toBe(kept)
    expect(
      master.logged.some((line) =>
        /^error The return of wire1 .* (is not signed|has a wrong signature)/.test(line),
      ),
    ).toBe(load === wrong || kept === undefined)
  })

  test('that a minion with minion_sign_messages makes is right, whatever it returns', async () => {
    await open({ require_minion_sign_messages: true, drop_messages_signature_fail: true })
    for (const [n, value] of [
      true,
      null,
      'text',
      1.5,
      [1, { a: [] }],
      { z: 1, a: { b: Buffer.from([0xff]) } },
    ].entries()) {
      const load = { ...ret, jid: `2026112112000000010${n}`, return: value }
      expect([value, await ask(signMessage(load, peer.key))]).toEqual([value, null])
    }
  })
})

test('allow_minion_key_revoke: off keeps the key of a minion that revokes it', async () => {
  await open({ allow_minion_key_revoke: false })
  await ask({ cmd: 'revoke_auth' })
  expect(master.context.keys.accepted('wire1' as never)).toBeDefined()
  expect(master.events).toEqual([])
})

test.each([
  [{ minion_data_cache_events: false }, { os: 'Debian', id: 'wire1' }],
  [{ minion_data_cache: false }, undefined],
])('with %j grains of a minion fire no event', async (options, kept) => {
  await open(options)
  const load = {
    cmd: '_pillar',
    id: 'wire1',
    grains: { os: 'Debian' },
    saltenv: null,
    pillarenv: null,
    ver: '2',
  }
  await master.answer(peer.seal(load).frame)
  expect(master.context.minions.grains('wire1')).toEqual(kept)
  expect(master.events).toEqual([])
})

test('secrets in the arguments of a job are sent to its minions, and masked in events and in the store', async () => {
  await open({ publisher_acl: { alice: ['test.*'] } })
  const arg = ['cat', { __kwarg__: true, stdin: 'hunter2', cwd: '/' }]
  const shown = ['cat', { __kwarg__: true, stdin: '**********', cwd: '/' }]
  const load = {
    cmd: 'publish',
    tgt: '*',
    tgt_type: 'glob',
    fun: 'cmd.run',
    arg,
    user: 'root',
    key: await master.rootKey(),
  }
  const reply = decode(await master.answer(packClear(load))) as { load: { jid: string } }
  const { jid } = reply.load
  expect(master.published[0]?.job.arg).toEqual(arg)
  expect(master.events.find(({ tag }) => tag === tags.jobNew(jid))?.data.arg).toEqual(shown)
  expect(master.context.jobs.load(jid)?.load.arg).toEqual(shown)
  await master.answer(packClear({ ...load, fun: ['test.ping', 'cmd.run'], arg: [[], arg] }))
  expect(master.published[1]?.job.arg).toEqual([[], arg])
  await master.answer(packClear({ ...load, jid: 'wrong' }))
  expect(JSON.stringify([master.events, master.logged])).not.toContain('hunter2')
})

test('arguments of a function whose module never finishes loading are all masked', async () => {
  const folder = await temporaryFolder('salt-modules-')
  await mkdir(join(folder, 'modules'))
  await writeFile(join(folder, 'modules', 'hangs.mjs'), 'await new Promise(() => {})\n')
  await open({ module_dirs: [folder] })
  const arg = ['ada', 7, 'word=hunter2', { __kwarg__: true, password: 'hunter2' }]
  const masked = '**********'
  const shown = [masked, masked, `word=${masked}`, { __kwarg__: true, password: masked }]
  const load = { cmd: 'publish', tgt: '*', tgt_type: 'glob', user: 'root', key: await master.rootKey() }
  const fun = ['test.echo', 'hangs.login']
  const reply = decode(await master.answer(packClear({ ...load, fun, arg: [['hello'], arg] })))
  const { jid } = (reply as { load: { jid: string } }).load
  expect(master.published[0]?.job.arg).toEqual([['hello'], arg])
  expect(master.events.find(({ tag }) => tag === tags.jobNew(jid))?.data.arg).toEqual([['hello'], shown])
  expect(master.context.jobs.load(jid)?.load.arg).toEqual([['hello'], shown])
  await removeFolder(folder)
})

test('a job is addressed to minions by id if its target selects by id, including listed ids without a key', async () => {
  await open({})
  const load = { cmd: 'publish', fun: 'test.ping', arg: [], user: 'root', key: await master.rootKey() }
  for (const [tgt, tgt_type] of [
    ['wire*', 'glob'],
    ['wire\\d', 'pcre'],
    [['wire1', 'nobody'], 'list'],
    ['id:wire1', 'grain'],
    ['wire* or G@os:x', 'compound'],
  ]) {
    await master.answer(packClear({ ...load, tgt, tgt_type }))
  }
  const addressed = master.published.map(({ minions }) => minions)
  expect(addressed).toEqual([['wire1'], ['wire1'], ['wire1', 'nobody'], undefined, undefined])
})

test('algorithms of FIPS systems are spoken by both ends: sign-in, requests, pillar and publications', async () => {
  cluster = await InProcessCluster.open({
    transport: 'memory',
    minions: ['web1'],
    master: { publish_signing_algorithm: 'PKCS1v15-SHA224' },
    minion: { encryption_algorithm: 'OAEP-SHA224', signing_algorithm: 'PKCS1v15-SHA224' },
  })
  expect(await cluster.run('*', 'test.ping')).toEqual({ web1: true })
})
