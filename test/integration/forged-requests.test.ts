/**
 * Requests of an accepted minion, a deleted one and an unauthenticated peer in the name of others have no effect, not even
 * on a master that allows everything. In the first test alone that is 11 ways × 30 commands of minions on each master, and
 * × 5 of clients of the API: 715 forged requests.
 */
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { decode } from '../../core/codec/index.ts'
import { SymmetricKey } from '../../core/crypto/index.ts'
import { tags } from '../../core/events/index.ts'
import { keysUnder, openStore } from '../../core/store/index.ts'
import { catalogueHash } from '../../core/wire/catalogue.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessMaster, type MasterSetup } from '../harness/in-process-master.ts'
import { Peer, refused, type Sealed } from '../harness/peer.ts'

const JID = '20261120120000123456'

type Loads = Record<string, Record<string, unknown>>

/** Every encrypted command of the protocol, and ours, with a load that would do something if it were obeyed. */
const commands: Loads = {
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
  minion_runner: { fun: 'test.arg', arg: ['x'] },
  pub_ret: { jid: JID },
  verify_minion: {},
  _catalogue: { hash: catalogueHash('forged'), catalogue: 'forged' },
  _verdict: { jid: JID, refusals: ['forged'] },
  _missed_jobs: {},
  revoke_auth: { preserve_minion_cache: false },
}

/** Those of clients of the API on other hosts. */
const clientCommands = (token: string): Loads => ({
  _client_request: {
    load: { cmd: 'publish', tgt: '*', fun: 'test.ping', arg: [], user: 'root', kwargs: { token } },
  },
  _client_event: { tag: 'salt/netapi/hook/forged', data: { forged: true } },
  _client_returns: { jid: JID, ids: ['wire1', 'wire2'] },
  _client_silence: { ids: ['wire1', 'wire2'] },
  _client_refusal: { act: 'publish', user: 'root', fun: 'forged', reason: 'forged' },
})

const fred = { eauth: 'listed', username: 'fred', password: 'x' }

/** What a master may allow. On the second everybody may do everything, whom the master believes to be who they say. */
const masters: Record<string, Record<string, unknown>> = {
  'a master': {},
  'a master that allows everything': {
    peer: { '.*': ['.*'] },
    peer_run: { '.*': ['.*'] },
    external_auth: {
      listed: { '^users': { fred: { password: 'x', groups: [] } }, '*': ['.*', '@runner', '@wheel'] },
    },
    publisher_acl: { '*': ['.*', '@runner', '@wheel'] },
    api_clients: ['api-*'],
    auth_dirs: [fileURLToPath(new URL('../fixtures/auth', import.meta.url))],
  },
}

let master: InProcessMaster
/** An accepted minion that wants more, and the one it wants to be. */
let mallory: Peer
let victim: Peer
/** What the master allows; and only where it has one, its client of the API, with what that may ask. */
let allowing: Record<string, unknown>
let client: Peer | undefined
let clientRequests: Loads

const ask = (frame: Uint8Array) => master.answer(frame)
const send = async (sealed: Sealed) => sealed.open(await ask(sealed.frame))

async function open(setup: MasterSetup = {}): Promise<void> {
  master = await InProcessMaster.open({ ...setup, options: { ...allowing, ...setup.options } })
  ;[mallory, victim] = await Promise.all([Peer.named('wire1'), Peer.named('wire2')])
  client = 'api_clients' in allowing ? await Peer.named('api-1') : undefined
  for (const peer of [mallory, victim, ...(client ? [client] : [])]) {
    await master.file(peer.id, peer.key.publicKey)
    await peer.signIn(ask)
  }
  clientRequests = client ? clientCommands((await tokenOfFred()).token) : {}
  forget()
}

async function tokenOfFred(): Promise<{ token: string }> {
  const reply = decode(await ask(packClear({ cmd: 'mk_token', ...fred })))
  return reply as { token: string }
}

/** Each with what it may ask. */
const owners = (): [Peer, Loads][] => [
  [victim, commands],
  ...(client ? [[client, clientRequests] as [Peer, Loads]] : []),
]

function forget(): void {
  master.events.length = 0
  master.logged.length = 0
}

/** All that a request can change. */
async function everything() {
  const { jobs, minions, keys } = master.context
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
const forgeries: Record<string, (load: Record<string, unknown>, owner: Peer) => Sealed> = {
  'the id of another minion inside': (load, owner) => mallory.seal(load, { load: { id: owner.id } }),
  'the id of another minion inside and outside': (load, owner) =>
    mallory.seal(load, { outerId: owner.id, load: { id: owner.id } }),
  "another minion's id with its captured token": (load, owner) =>
    mallory.seal(load, { load: { id: owner.id, tok: owner.token } }),
  "another minion's id outside and inside, with its captured token": (load, owner) =>
    mallory.seal(load, { outerId: owner.id, load: { id: owner.id, tok: owner.token } }),
  "another minion's token under the own id": (load, owner) =>
    mallory.seal(load, { load: { tok: owner.token } }),
  'no token': (load) => mallory.seal(load, { load: NO_TOK }),
  "another minion's session key": (load, owner) => mallory.seal(load, { key: owner.session }),
  'the AES key that all minions share': (load, owner) =>
    mallory.seal(load, { key: mallory.aes, outerId: owner.id, load: { id: owner.id, tok: owner.token } }),
  'generation 2, another id and no token': (load, owner) => mallory.sealOld(load, { load: { id: owner.id } }),
  'generation 2, another id and the own token': (load, owner) =>
    mallory.sealOld(load, { load: { id: owner.id, tok: mallory.token } }),
  'a generation between 2 and 3': (load, owner) =>
    mallory.sealOld(load, { version: 2.5, load: { id: owner.id } }),
}

describe.each(Object.entries(masters))('%s:', (_, options) => {
  beforeEach(() => {
    allowing = options
  })

  describe('CVE-2013-4439, CVE-2024-38822: a request in the name of another minion', () => {
    afterEach(() => master.close())

    test.each(Object.entries(forgeries))(
      'is refused for every command, and logged: %s',
      async (name, forge) => {
        await open()
        let count = 0
        await expectNoEffect(async () => {
          for (const [owner, loads] of owners())
            for (const [cmd, load] of Object.entries(loads)) {
              count++
              expect([cmd, await send(forge({ cmd, ...load }, owner))]).toEqual([cmd, refused('bad load')])
            }
        })
        expect(count).toBe(client ? 36 : 31)
        const isOld = name.includes('generation') // which is told once
        expect(master.logged.filter((line) => line.startsWith('warn Refused '))).toHaveLength(
          isOld ? 1 : count,
        )
      },
    )

    test('while the same request of its owner is processed', async () => {
      await open()
      const answers: Record<string, unknown> = {}
      for (const [owner, loads] of owners())
        for (const [cmd, load] of Object.entries(loads))
          answers[cmd] = await send(owner.seal({ cmd, ...load }))
      expect(Object.values(answers)).not.toContainEqual(refused('bad load'))
      const published = { jid: expect.any(String), minions: ['wire1'] }
      expect(answers).toMatchObject(
        client
          ? {
              minion_pub: { ...published, minions: ['wire1', 'wire2'] },
              minion_runner: { args: ['x'] },
              _client_request: { reply: { load: published } },
              _client_event: { fired: true },
              _client_returns: { rest: [] },
              _client_silence: { denied: [] },
            }
          : { minion_pub: {}, minion_runner: {} },
      )
      const { returns, events, keys, rotations } = await everything()
      expect(returns).toMatchObject({ wire2: { return: 'forged' } })
      const own = events.filter(({ tag }) => !/^salt\/job\/.*\/new$|^\d{20}$/.test(tag))
      expect(own.map(({ tag }) => tag)).toEqual([
        tags.jobReturn(JID, 'wire2'),
        'my/tag',
        tags.minionRefresh('wire2'),
        tags.key,
        ...(client ? ['salt/netapi/hook/forged'] : []),
      ])
      expect([keys.accepted.some((id) => id === 'wire2'), rotations]).toEqual([false, 1])
      expect(master.published.map(({ job }) => job.user)).toEqual(client ? ['wire2', 'wire2', 'fred'] : [])
    })

    if ('api_clients' in options)
      test('is refused as well between minions and clients of the API', async () => {
        await open()
        await expectNoEffect(async () => {
          for (const [cmd, load] of Object.entries(clientRequests))
            expect([cmd, await send(mallory.seal({ cmd, ...load }))]).toEqual([cmd, {}])
          for (const [cmd, load] of Object.entries(commands))
            expect([cmd, await send(client!.seal({ cmd, ...load }))]).toEqual([cmd, {}])
        })
        expect(master.logged.filter((line) => line.startsWith('warn Refused '))).toHaveLength(34) // two are commands of nobody
      })
  })

  describe('CVE-2025-62349: with minimum_auth_version: 2', () => {
    beforeEach(() => open({ options: { minimum_auth_version: 2 } }))
    afterEach(() => master.close())

    test('a minion that has spoken generation 3 is refused in a lower one', async () => {
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

    test('only the minion itself can raise its generation: a sign-in with its public key does not', async () => {
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

    test('a generation 2 minion is accepted with its token; without the token only its returns are', async () => {
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

    if ('api_clients' in options)
      test('a client of the API is refused in a lower generation, even before its first request', async () => {
        await expectNoEffect(async () => {
          for (const [cmd, load] of Object.entries(clientRequests))
            for (const proof of [{}, { tok: client!.token }]) {
              const forged = mallory.sealOld({ cmd, ...load }, { load: { id: client!.id, ...proof } })
              expect([cmd, await send(forged)]).toEqual([cmd, {}])
            }
        })
        expect(client!.aes.text).not.toBe(mallory.aes.text)
      })
  })

  describe('CVE-2025-62349: with minimum_auth_version: 2', () => {
    // One master for all: a request that is refused changes nothing.
    beforeAll(async () => {
      allowing = options
      await open({ options: { minimum_auth_version: 2 } })
    })
    afterAll(() => master.close())

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
      'is refused at once in generation %s, with all keys and tokens it still has',
      async (minimum_auth_version) => {
        await open({ options: { minimum_auth_version } })
        await master.context.keys.remove('wire2')
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

    test('is refused when it is rejected as well, and gets no keys when it signs in again', async () => {
      await open()
      await master.context.keys.reject('wire2', { includeAccepted: true })
      expect(await send(victim.seal({ cmd: '_file_envs' }))).toEqual(refused('bad load'))
      expect(await victim.signIn(ask)).toMatchObject({ ret: false })
    })

    test('that revoked its own key no longer has a valid AES key', async () => {
      await open({ options: { minimum_auth_version: 2 } })
      const old = mallory.sealOld({ cmd: '_file_envs' })
      expect(await send(victim.seal({ cmd: 'revoke_auth' }))).toBe(true)
      expect(await send(old)).toEqual(refused('bad load'))
      expect(await send(mallory.seal({ cmd: '_file_envs' }))).toEqual(['base'])
    })

    test('leaves nothing to a new minion with its id', async () => {
      await open()
      await send(victim.seal({ cmd: '_pillar', ...commands._pillar }))
      await send(victim.seal({ cmd: 'revoke_auth' }))
      const successor = await Peer.named('wire2', 'wire1')
      await master.file('wire2', successor.key.publicKey)
      const inherited = victim.seal({ cmd: '_file_envs' }, { load: { tok: successor.token } })
      expect(await send(inherited)).toEqual(refused('bad load'))
      await successor.signIn(ask)
      expect(master.context.minions.grains('wire2')).toBeUndefined()
      expect(await send(victim.seal({ cmd: '_file_envs' }))).toEqual(refused('bad load'))
      expect(await send(successor.seal({ cmd: '_file_envs' }))).toEqual(['base'])
      expect(successor.session.text).not.toBe(victim.session.text)
    })
  })

  describe('a session key', () => {
    test('is made only for minions with an accepted key', async () => {
      await open()
      const stranger = await Peer.named('stranger')
      await stranger.signIn(ask)
      const session = SymmetricKey.generate()
      for (const id of ['stranger', 'nobody', '../x', 'x'.repeat(300), 'WIRE1', '', 'a\0b', '*']) {
        const forged = stranger.seal({ cmd: '_file_envs' }, { key: session, outerId: id, load: { id } })
        expect(await send(forged)).toEqual(refused('bad load'))
      }
      const store = openStore(`${master.config.cachedir}/sessions.mdb`)
      expect([...store.keys(keysUnder('session'))].map(([, id]) => id)).toEqual([
        ...(client ? ['api-1'] : []),
        'wire1',
        'wire2',
      ])
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

    if ('api_clients' in options)
      test('has no second effect: a request of a client of the API', async () => {
        const frames = Object.entries(clientRequests).map(
          ([cmd, load]) => client!.seal({ cmd, ...load }).frame,
        )
        for (const frame of frames) await ask(frame)
        expect(master.published).toHaveLength(1)
        await expectNoEffect(async () => {
          for (const frame of frames) await Promise.all(Array.from({ length: 5 }, () => ask(frame)))
        })
      })

    test.each(['a return without a job', '_minion_event', '_return'])(
      'has one effect when all copies arrive at once: %s',
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
      expect(master.context.minions.grains('wire2')).toEqual({ os: 'New', id: 'wire2' })
    })

    test('is announced once if it is a return without job cache', async () => {
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

    test('fills only the room for pending keys, and does not lock out accepted minions', async () => {
      await open({ maxPending: 20 })
      const flood = Array.from({ length: 200 }, (_, i) => ask(mallory.signInFrame({ id: `flood${i}` })))
      await Promise.all(flood)
      const { pending, denied, rejected } = await master.context.keys.list()
      expect(pending.length).toBeGreaterThanOrEqual(20)
      expect(pending.length).toBeLessThan(40)
      expect([denied, rejected]).toEqual([[], []])
      const last = await Peer.named('last', 'wire1')
      expect(await last.signIn(ask)).toMatchObject({ ret: 'full' })
      expect(await victim.signIn(ask)).toMatchObject({ enc: 'pub' })
    })

    test('for one id with many keys leaves one pending and one denied key', async () => {
      await open()
      const owners = ['wire1', 'wire2', 'master', 'master_sign', 'other1']
      const peers = await Promise.all(owners.map((owner) => Peer.named('contested', owner)))
      await Promise.all(Array.from({ length: 10 }, () => peers.map((peer) => ask(peer.signInFrame()))).flat())
      const { pending, denied, accepted } = await master.context.keys.list()
      expect({ pending, denied, accepted }).toEqual({
        pending: ['contested'],
        denied: ['contested'],
        accepted: [...(client ? ['api-1'] : []), 'wire1', 'wire2'],
      })
    })
  })
})
