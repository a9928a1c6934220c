/** What an accepted minion, a deleted one and a stranger can do in the name of others: nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { tags } from '../../core/events/index.ts'
import { openStore, under } from '../../core/store/index.ts'
import { InProcessMaster, type MasterSetup } from '../harness/in-process-master.ts'
import { Peer, refused, type Sealed } from '../harness/peer.ts'

const JID = '20261120120000123456'

/** Every encrypted command of the protocol, with a load that would do something if it were obeyed. */
const commands: Record<string, Record<string, unknown>> = {
  _return: { jid: JID, fun: 'test.ping', fun_args: [], return: 'forged', retcode: 0, success: true },
  _syndic_return: { load: [{ id: 'wire2', jid: JID, fun: 'test.ping', return: { wire2: { return: 1 } } }] },
  _minion_event: { tag: 'my/tag', data: { forged: true }, pretag: null },
  _handle_minion_event: { tag: 'my/tag', data: { forged: true }, pretag: null },
  _master_opts: { env_only: true },
  _master_tops: { opts: { id: 'wire2', grains: {} } },
  _ext_nodes: { opts: { id: 'wire2', grains: {} } },
  _mine: { data: { 'test.ping': 'forged' }, clear: false },
  _mine_get: { tgt: '*', fun: 'test.ping', tgt_type: 'glob' },
  _mine_delete: { fun: 'test.ping' },
  _mine_flush: {},
  _pillar: { grains: { os: 'Forged' }, saltenv: 'base', pillarenv: null, pillar_override: {}, ver: '2' },
  _file_list: { saltenv: 'base', prefix: '' },
  _file_list_emptydirs: { saltenv: 'base', prefix: '' },
  _dir_list: { saltenv: 'base', prefix: '' },
  _symlink_list: { saltenv: 'base', prefix: '' },
  _file_envs: {},
  _file_hash: { path: 'top.sls', saltenv: 'base' },
  _file_hash_and_stat: { path: 'top.sls', saltenv: 'base' },
  _file_find: { path: 'top.sls', saltenv: 'base' },
  _serve_file: { path: 'top.sls', saltenv: 'base', loc: 0 },
  _file_recv: { path: ['x'], loc: 0, data: 'x', size: 1 },
  minion_pub: { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', ret: '', tmo: 1, form: 'clean' },
  minion_publish: { fun: 'test.ping', arg: [], tgt: '*', tgt_type: 'glob', ret: '', tmo: 1, form: 'clean' },
  minion_runner: { fun: 'jobs.active', arg: [] },
  pub_ret: { jid: JID },
  verify_minion: {},
  revoke_auth: { preserve_minion_cache: false },
}

let master: InProcessMaster
/** An accepted minion that wants more, and the one it wants to be. */
let mallory: Peer
let victim: Peer

const ask = (frame: Uint8Array) => master.answer(frame)
const send = async (sealed: Sealed) => sealed.open(await ask(sealed.frame))

async function open(setup: MasterSetup = {}): Promise<void> {
  master = await InProcessMaster.open(setup)
  ;[mallory, victim] = await Promise.all([Peer.named('wire1'), Peer.named('wire2')])
  for (const peer of [mallory, victim]) {
    await master.file(peer.id, peer.key.publicKey)
    await peer.signIn(ask)
  }
  forget()
}

function forget(): void {
  master.events.length = 0
  master.logged.length = 0
}

/** All that a request can change. */
async function everything() {
  const { jobs, minions, keys } = master.room
  return {
    jobs: [...jobs.list()],
    returns: Object.fromEntries(jobs.returns(JID)),
    minions: minions.ids().map((id) => [id, minions.grains(id), minions.pillar(id)]),
    keys: await keys.list(),
    events: [...master.events],
    published: [...master.published],
    rotations: master.rotations,
  }
}

async function expectNoEffect(act: () => Promise<void>): Promise<void> {
  const before = await everything()
  await act()
  expect(await everything()).toEqual(before)
}

const NO_TOK = { tok: undefined }

/** Each makes a request that says it is the victim's, or is not what it says. */
const forgeries: Record<string, (load: Record<string, unknown>) => Sealed> = {
  'the id of another minion inside': (load) => mallory.seal(load, { load: { id: 'wire2' } }),
  'the id of another minion inside and outside': (load) =>
    mallory.seal(load, { outerId: 'wire2', load: { id: 'wire2' } }),
  "another minion's id with its captured token": (load) =>
    mallory.seal(load, { load: { id: 'wire2', tok: victim.token } }),
  "another minion's id outside and inside, with its captured token": (load) =>
    mallory.seal(load, { outerId: 'wire2', load: { id: 'wire2', tok: victim.token } }),
  "another minion's token under the own id": (load) => mallory.seal(load, { load: { tok: victim.token } }),
  'no token': (load) => mallory.seal(load, { load: NO_TOK }),
  "another minion's session key": (load) => mallory.seal(load, { key: victim.session }),
  'the AES key that all minions share': (load) =>
    mallory.seal(load, { key: mallory.aes, outerId: 'wire2', load: { id: 'wire2', tok: victim.token } }),
  'generation 2, another id and no token': (load) => mallory.sealOld(load, { load: { id: 'wire2' } }),
  'generation 2, another id and the own token': (load) =>
    mallory.sealOld(load, { load: { id: 'wire2', tok: mallory.token } }),
  'a generation between 2 and 3': (load) => mallory.sealOld(load, { version: 2.5, load: { id: 'wire2' } }),
}

describe('CVE-2013-4439, CVE-2024-38822: a request in the name of another minion', () => {
  afterEach(() => master.close())

  test.each(Object.keys(forgeries))('is refused for every command: %s', async (name) => {
    await open()
    await expectNoEffect(async () => {
      for (const [cmd, load] of Object.entries(commands)) {
        expect([cmd, await send(forgeries[name]!({ cmd, ...load }))]).toEqual([cmd, refused('bad load')])
      }
    })
  })

  test('while the same request of its owner is understood', async () => {
    await open()
    for (const [cmd, load] of Object.entries(commands)) {
      expect([cmd, await send(victim.seal({ cmd, ...load }))]).not.toEqual([cmd, refused('bad load')])
    }
    const { returns, events, keys, rotations } = await everything()
    expect(returns).toMatchObject({ wire2: { return: 'forged' } })
    expect(events.map(({ tag }) => tag)).toEqual([
      tags.jobReturn(JID, 'wire2'),
      'my/tag',
      tags.minionRefresh('wire2'),
      tags.key,
    ])
    expect([keys.accepted, rotations]).toEqual([['wire1'], 1])
  })
})

describe('CVE-2025-62349: with minimum_auth_version: 2', () => {
  beforeEach(() => open({ options: { minimum_auth_version: 2 } }))
  afterEach(() => master.close())

  test('a minion that has spoken generation 3 is heard in no lower one', async () => {
    await send(victim.seal({ cmd: '_file_envs' }))
    await expectNoEffect(async () => {
      for (const [cmd, load] of Object.entries(commands)) {
        for (const proof of [{}, { tok: victim.token }, { tok: mallory.token }]) {
          const forged = mallory.sealOld({ cmd, ...load }, { load: { id: 'wire2', ...proof } })
          expect([cmd, await send(forged)]).toEqual([cmd, refused('bad load')])
        }
      }
    })
    expect(await ask(victim.signInFrame({}, 2))).toEqual(await ask(Buffer.from('80', 'hex')))
  })

  test('nobody can make it so but the minion itself: a sign-in with its public key proves nothing', async () => {
    const honest = victim.sealOld({
      cmd: '_minion_event',
      tag: 'x',
      data: {},
      id: 'wire2',
      tok: victim.token,
    })
    await ask(victim.signInFrame())
    expect(await send(honest)).toBeNull()
  })

  test('a minion that speaks generation 2 only is believed with its token, and without it only its returns are', async () => {
    const effects: string[] = []
    for (const [cmd, load] of Object.entries(commands)) {
      const before = JSON.stringify(await everything())
      await send(mallory.sealOld({ cmd, ...load }, { load: { id: 'wire2' } }))
      if (JSON.stringify(await everything()) !== before) effects.push(cmd)
    }
    expect(effects).toEqual(['_return'])
    expect(
      await send(
        mallory.sealOld(
          { cmd: '_return', ...commands._return },
          { load: { id: 'wire2', tok: mallory.token } },
        ),
      ),
    ).toEqual(refused('bad load'))
    expect(
      await send(victim.sealOld({ cmd: 'revoke_auth' }, { load: { id: 'wire2', tok: victim.token } })),
    ).toBe(true)
  })

  test.each([null, 0, 1, 1.9, -1, Number.NEGATIVE_INFINITY, Number.NaN, '2', '3', true, [3], 2n ** 63n])(
    'the version %s is refused',
    async (version) => {
      await expectNoEffect(async () => {
        const load = { cmd: '_minion_event', tag: 'x', data: {}, id: 'wire2', tok: victim.token }
        const frames = [
          victim.sealOld(load, { version: version as number }).frame,
          victim.signInFrame({ id: 'new' }, version as number),
        ]
        for (const frame of frames) expect(Buffer.from(await ask(frame)).toString()).toMatch(/bad load$/)
      })
    },
  )
})

describe('a refused generation', () => {
  test('is logged once for each id, with the option to set, and in bounded number', async () => {
    await open()
    for (let i = 0; i < 50; i++) {
      for (const id of ['old1', 'old2']) await ask(victim.signInFrame({ id, nonce: `${i}` }, 2))
      await send(victim.sealOld({ cmd: '_file_envs' }))
    }
    expect(master.logged.filter((line) => line.includes('minimum_auth_version'))).toHaveLength(3)
    expect(master.logged[0]).toMatch(/^warn Refused old1: .* set minimum_auth_version: 2/)
    await ask(victim.signInFrame({ id: 'x\nwarn forged' }, 2))
    expect(master.logged.join('\n')).not.toContain('forged')
    await master.close()
  })
})

describe('CVE-2016-9639: a deleted minion', () => {
  afterEach(() => master.close())

  test.each([3, 2])(
    'is refused at once in generation %s, whatever it still holds',
    async (minimum_auth_version) => {
      await open({ options: { minimum_auth_version } })
      await master.room.keys.remove('wire2')
      await expectNoEffect(async () => {
        for (const [cmd, load] of Object.entries(commands)) {
          const requests = [
            victim.seal({ cmd, ...load }),
            victim.sealOld({ cmd, ...load }, { load: { id: 'wire2' } }),
            victim.sealOld({ cmd, ...load }, { load: { id: 'wire2', tok: victim.token } }),
          ]
          for (const request of requests)
            expect([cmd, await send(request)]).toEqual([cmd, refused('bad load')])
        }
      })
    },
  )

  test('is refused when rejected as well, and gets no keys when it comes again', async () => {
    await open()
    await master.room.keys.reject('wire2', { includeAccepted: true })
    expect(await send(victim.seal({ cmd: '_file_envs' }))).toEqual(refused('bad load'))
    expect(await victim.signIn(ask)).toMatchObject({ ret: false })
  })

  test('that revoked its own key takes the AES key it knew with it', async () => {
    await open({ options: { minimum_auth_version: 2 } })
    const old = mallory.sealOld({ cmd: '_file_envs' })
    expect(await send(victim.seal({ cmd: 'revoke_auth' }))).toBe(true)
    expect(await send(old)).toEqual(refused('bad load'))
    expect(await send(mallory.seal({ cmd: '_file_envs' }))).toEqual(['base'])
  })

  test('leaves nothing to another one that takes its name', async () => {
    await open()
    await send(victim.seal({ cmd: '_pillar', ...commands._pillar }))
    await send(victim.seal({ cmd: 'revoke_auth' }))
    const successor = await Peer.named('wire2', 'wire1')
    await master.file('wire2', successor.key.publicKey)
    const inherited = victim.seal({ cmd: '_file_envs' }, { load: { tok: successor.token } })
    expect(await send(inherited)).toEqual(refused('bad load'))
    await successor.signIn(ask)
    expect(master.room.minions.grains('wire2')).toBeUndefined()
    expect(await send(victim.seal({ cmd: '_file_envs' }))).toEqual(refused('bad load'))
    expect(await send(successor.seal({ cmd: '_file_envs' }))).toEqual(['base'])
    expect(successor.session.text).not.toBe(victim.session.text)
  })
})

describe('a session key', () => {
  test('is made for nobody who has no accepted key', async () => {
    await open()
    const stranger = await Peer.named('stranger')
    await stranger.signIn(ask)
    const session = SymmetricKey.generate()
    for (const id of ['stranger', 'nobody', '../x', 'x'.repeat(300), 'WIRE1', '', 'a\0b', '*']) {
      const forged = stranger.seal({ cmd: '_file_envs' }, { key: session, outerId: id, load: { id } })
      expect(await send(forged)).toEqual(refused('bad load'))
    }
    const store = openStore(`${master.config.cachedir}/sessions.mdb`)
    expect([...store.keys(under('session'))].map(([, id]) => id)).toEqual(['wire1', 'wire2'])
    await store.close()
    await master.close()
  })
})

describe('CVE-2024-38823: a request that is sent again', () => {
  beforeEach(() => open())
  afterEach(() => master.close())

  const requests: Record<string, Record<string, unknown>> = {
    ...commands,
    'a return without a job': { ...commands._return, cmd: '_return', jid: 'req' },
    'a return that is not to be kept': { ...commands._return, cmd: '_return', jid: 'nocache' },
    'events in a list': { cmd: '_minion_event', events: [{ tag: 'e1', data: {} }], pretag: 'pre' },
  }

  test.each(Object.entries(requests))('has no second effect: %s', async (name, load) => {
    const { frame } = victim.seal({ cmd: name, ...load })
    await ask(frame)
    await expectNoEffect(async () => {
      for (let i = 0; i < 5; i++) await ask(frame)
      await Promise.all(Array.from({ length: 20 }, () => ask(frame)))
      await master.restart()
      await ask(frame)
    })
  })

  test.each(['a return without a job', '_minion_event', '_return'])(
    'has one effect when all copies come at once: %s',
    async (name) => {
      const { frame } = victim.seal({ cmd: name, ...requests[name] })
      await Promise.all(Array.from({ length: 50 }, () => ask(frame)))
      const told = master.events.filter(({ tag }) => tag === 'my/tag' || tag.includes('/ret/'))
      expect(told).toHaveLength(1)
    },
  )

  test('does not bring old grains back', async () => {
    const pillar = (os: string) => victim.seal({ cmd: '_pillar', ...commands._pillar, grains: { os } })
    const old = pillar('Old')
    await ask(old.frame)
    await ask(pillar('New').frame)
    await ask(old.frame)
    expect(master.room.minions.grains('wire2')).toEqual({ os: 'New', id: 'wire2' })
  })

  test('a return without job cache is told once', async () => {
    await master.close()
    await open({ options: { job_cache: false } })
    for (const jid of [JID, 'req', 'nocache']) {
      const { frame } = victim.seal({ ...commands._return, cmd: '_return', jid })
      await ask(frame)
      await expectNoEffect(async () => void (await ask(frame)))
    }
    expect(master.events.filter(({ tag }) => tag.includes('/ret/'))).toHaveLength(3)
  })
})

describe('a flood of sign-ins', () => {
  afterEach(() => master.close())

  test('fills no more than the place for pending keys, and shuts out nobody who is known', async () => {
    await open({ maxPending: 20 })
    const flood = Array.from({ length: 200 }, (_, i) => ask(mallory.signInFrame({ id: `flood${i}` })))
    await Promise.all(flood)
    const { pending, denied, rejected } = await master.room.keys.list()
    expect(pending.length).toBeGreaterThanOrEqual(20)
    expect(pending.length).toBeLessThan(40)
    expect([denied, rejected]).toEqual([[], []])
    const last = await Peer.named('last', 'wire1')
    expect(await last.signIn(ask)).toMatchObject({ ret: 'full' })
    expect(await victim.signIn(ask)).toMatchObject({ enc: 'pub' })
  })

  test('of one id with many keys files one, and one that was denied', async () => {
    await open()
    const owners = ['wire1', 'wire2', 'master', 'master_sign', 'other1']
    const peers = await Promise.all(owners.map((owner) => Peer.named('contested', owner)))
    await Promise.all(Array.from({ length: 10 }, () => peers.map((peer) => ask(peer.signInFrame()))).flat())
    const { pending, denied, accepted } = await master.room.keys.list()
    expect({ pending, denied, accepted }).toEqual({
      pending: ['contested'],
      denied: ['contested'],
      accepted: ['wire1', 'wire2'],
    })
  })
})
