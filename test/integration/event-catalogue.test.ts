/** Events of the master, field by field as Salt's own master fires them: tags and keys are those that were recorded. */
import { afterEach, describe, expect, test } from 'vitest'
import { minionTopic } from '../../core/channel/publish-channel.ts'
import { EventBus, tags } from '../../core/events/index.ts'
import { Presence } from '../../core/master/publisher/presence.ts'
import { packClear } from '../../core/wire/envelope.ts'
import { InProcessCluster } from '../harness/in-process-cluster.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'
import { until } from '../harness/until.ts'
import { vectors } from '../harness/vectors.ts'

interface Recorded {
  readonly tag: string
  readonly data: Readonly<Record<string, unknown>>
}

type Bus = { readonly master_bus: readonly Recorded[] }
const recorded = [
  ...vectors<{ events: Bus }>('generation-3').events.master_bus,
  ...vectors<Bus>('events').master_bus,
]

/** Not of Salt: whose a job is. */
const added = 'owner'

/** Keys of an event in their order; its time belongs to the bus. */
const keysOf = (data: object) =>
  Object.keys(data).filter((key) => key !== '_stamp' && key !== 'ts' && key !== added)

function recordedKeys(tag: string | RegExp, fits: (data: Recorded['data']) => boolean = () => true) {
  const found = recorded.find((each) => {
    return (typeof tag === 'string' ? each.tag === tag : tag.test(each.tag)) && fits(each.data)
  })
  if (!found) throw new Error(`No event ${tag} was recorded.`)
  return keysOf(found.data)
}

let master: InProcessMaster | undefined
let cluster: InProcessCluster | undefined
afterEach(async () => {
  await cluster?.close()
  await master?.close()
  cluster = master = undefined
})

const open = async (options: Record<string, unknown> = {}) => {
  master = await InProcessMaster.open({ options })
  return master
}
const firedBy = ({ events }: InProcessMaster, tag: string | RegExp) => {
  const found = events.filter((each) => (typeof tag === 'string' ? each.tag === tag : tag.test(each.tag)))
  return found.map(({ data }) => data)
}

describe('the event', () => {
  test('salt/auth reports each sign-in as pending, accepted or denied; of a rejected key only that it was refused', async () => {
    const own = await open()
    const ask = (frame: Uint8Array) => own.answer(frame)
    const peer = await Peer.named('wire1')
    await peer.signIn(ask)
    await own.file('wire1', peer.key.publicKey)
    await peer.signIn(ask)
    await (await Peer.named('wire1', 'wire2')).signIn(ask)
    const other = await Peer.named('wire2')
    await own.file('wire2', other.key.publicKey, 'rejected')
    await other.signIn(ask)

    const { pem: pub } = peer.key.publicKey
    const fired = firedBy(own, tags.auth)
    expect(fired).toEqual([
      { result: true, act: 'pend', id: 'wire1', pub },
      { result: true, act: 'accept', id: 'wire1', pub },
      { result: false, act: 'denied', id: 'wire1', pub: other.key.publicKey.pem },
      { result: false, id: 'wire2', pub: other.key.publicKey.pem },
    ])
    const [pend, , denied, refused] = fired as [object, object, object, object]
    expect(keysOf(pend)).toEqual(recordedKeys(tags.auth, ({ act }) => act === 'pend'))
    expect(keysOf(denied).sort()).toEqual(recordedKeys(tags.auth, ({ act }) => act === 'denied').sort())
    expect(keysOf(refused)).toEqual(recordedKeys(tags.auth, ({ act, result }) => !act && result === false))
  })

  test('salt/auth is not fired with auth_events off', async () => {
    const own = await open({ auth_events: false })
    await (await Peer.named('wire1')).signIn((frame) => own.answer(frame))
    expect(own.events.map(({ tag }) => tag)).toEqual([tags.key])
  })

  test('salt/key reports a key that its minion has revoked', async () => {
    const own = await open()
    const peer = await Peer.named('wire1')
    await own.file('wire1', peer.key.publicKey)
    await peer.signIn((frame) => own.answer(frame))
    await own.answer(peer.seal({ cmd: 'revoke_auth' }).frame)
    const [data] = firedBy(own, tags.key)
    expect(data).toEqual({ result: true, act: 'delete', id: 'wire1' })
    expect(keysOf(data!)).toEqual(recordedKeys(tags.key))
  })

  test('salt/job/error reports a job that was refused: its load without the credentials', async () => {
    const own = await open()
    const key = (await own.rootKey()).toLowerCase()
    const load = { fun: 'test.ping', arg: [], tgt: 'wire1', tgt_type: 'glob', ret: '', jid: '', user: 'root' }
    await own.answer(packClear({ cmd: 'publish', ...load, key, kwargs: { token: 'abc' } }))
    const [data] = firedBy(own, tags.jobError())
    expect(keysOf(data!)).toEqual(recordedKeys(tags.jobError(), (each) => !('key' in each)))
    expect(data).toMatchObject({ ...load, user: '', error: { name: 'AuthenticationError' } }) // nobody is known to be root
    const fired = JSON.stringify(own.events)
    expect(fired).not.toContain(key)
    expect(fired).not.toContain('abc')
  })

  test('of a started minion is fired in both forms, of a job in all three, and of an exception as _salt_error', async () => {
    cluster = await InProcessCluster.open({ transport: 'memory', minions: ['wire1'] })
    await cluster.run('*', 'test.ping')
    await cluster.run('*', 'nosuch.function', ['a', 'b'])
    await cluster.run('*', 'test.echo')
    await cluster.run('*', 'test.exception', ['on purpose'])
    const own = cluster.master
    const fired = (tag: string | RegExp, fits: (data: Recorded['data']) => boolean = () => true) => {
      const found = firedBy(own, tag).find(fits)
      if (!found) throw new Error(`There was no event ${tag}.`)
      return keysOf(found)
    }
    const same: [string | RegExp, (data: Recorded['data']) => boolean][] = [
      [tags.minionStartLegacy, () => true],
      [tags.minionStart('wire1'), () => true],
      [tags.minionRefresh('wire1'), () => true],
      [/^\d{20}$/, () => true],
      [/^salt\/job\/\d{20}\/new$/, () => true],
      [/\/ret\/wire1$/, ({ fun }) => fun === 'test.ping'],
      [/\/ret\/wire1$/, ({ fun }) => fun === 'nosuch.function'],
      [/\/ret\/wire1$/, (data) => String(data.return).startsWith('Passed invalid arguments')],
      [tags.saltError, () => true],
    ]
    for (const [tag, fits] of same) expect([tag, fired(tag, fits)]).toEqual([tag, recordedKeys(tag, fits)])
    expect(firedBy(own, tags.minionStart('wire1'))[0]).toMatchObject({
      cmd: '_minion_event',
      pretag: null,
      data: expect.stringMatching(/^Minion wire1 started at \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/),
    })
  })

  test('on the bus of a minion reports that its modules and its pillar were reloaded', async () => {
    cluster = await InProcessCluster.open({ transport: 'memory', minions: ['wire1'] })
    const bus = await EventBus.connect(cluster.minionSockets('wire1'))
    const heard: Recorded[] = []
    void (async () => {
      for await (const each of bus.subscribe('')) heard.push(each)
    })()
    await cluster.run('*', 'saltutil.refresh_modules')
    await bus.fire(tags.pillarRefresh, {})
    for (const tag of [tags.moduleRefreshDone, tags.pillarRefreshDone]) {
      const { data } = await until(tag, () => heard.find((each) => each.tag === tag))
      expect(data).toMatchObject({ complete: true })
    }
    await bus.close()
  })

  test('on the bus of a minion reports that the connection to its master is lost', async () => {
    cluster = await InProcessCluster.open({ transport: 'memory', minions: ['wire1'] })
    const bus = await EventBus.connect(cluster.minionSockets('wire1'))
    const told = bus.subscribe((tag) => tag === tags.masterDisconnected)
    await cluster.vanish()
    for await (const { data } of told) {
      expect(data).toMatchObject({ master: '127.0.0.1' })
      break
    }
    await bus.close()
  })

  test('salt/presence/… lists at once the minions that came and went, and all present ones with each maintenance', async () => {
    const fired: [string, object][] = []
    let connected = new Set<string>()
    const own = await open()
    const presence = new Presence({
      acceptedIds: async () => ['db1', 'web1'],
      topics: () => connected,
      subscribers: () => connected.size,
      byAddress: async () => [],
      fire: (tag, data) => fired.push([tag, data]),
      file: `${own.root}/connected.json`,
      elapsed: () => performance.now(),
      events: true,
    })
    connected = new Set([minionTopic('web1'), minionTopic('nobody')])
    await presence.update()
    await presence.update()
    presence.announce()
    connected = new Set([minionTopic('db1')])
    await presence.update()
    expect(fired).toEqual([
      ['salt/presence/change', { new: ['web1'], lost: [] }],
      ['salt/presence/present', { present: ['web1'] }],
      ['salt/presence/change', { new: ['db1'], lost: ['web1'] }],
    ])
    const [[change, changed], [present, told]] = fired as [[string, object], [string, object]]
    expect(keysOf(changed)).toEqual(recordedKeys(change))
    expect(keysOf(told)).toEqual(recordedKeys(present))
  })
})
