/** Events of minions on the master's bus: only with tags that minions may use, and with the id of the sender. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { tags } from '../../core/events/index.ts'
import { InProcessMaster } from '../harness/in-process-master.ts'
import { Peer } from '../harness/peer.ts'

const JID = '20261120120000123456'

/** Tags by which masters, runners, reactors and command lines learn what is so. Sent by wire1. */
const reserved = [
  tags.jobReturn(JID, 'wire2'),
  tags.jobReturn(JID, 'wire1'),
  tags.jobNew(JID),
  tags.jobError(JID),
  tags.jobError(),
  tags.jobProgress(JID, 'wire2', 1),
  `salt/job/${JID}/prog/wire1`,
  tags.jobStart(JID, 'wire2'),
  `${tags.jobStart(JID, 'wire1')}/x`,
  `salt/job/${JID}/sub/wire1/error/x`,
  `salt/job/${JID}/return/wire2`,
  `salt/job/${JID}/ret/wire1/prog/wire1/x`,
  tags.jobs,
  JID,
  `${JID}_4711`,
  `${JID}/x`,
  'new_job',
  tags.auth,
  `${tags.auth}/x`,
  tags.key,
  tags.keyRotated,
  'key/x',
  tags.minionStart('wire2'),
  tags.minionStart('wire11'),
  'salt/minion/wire1',
  'salt/minion//wire1/start',
  tags.minionRefresh('wire2'),
  tags.minionRefresh('wire1'),
  'minion/wire2/x',
  tags.beacon('wire2', 'load'),
  'salt/beacon',
  tags.presencePresent,
  tags.presenceChange,
  tags.runNew(JID),
  tags.runReturn(JID),
  tags.runArgs(JID),
  tags.wheelNew(JID),
  tags.wheelReturn(JID),
  tags.stats('MWorker-0'),
  tags.fileserverUpdate('roots'),
  tags.eventListenStart,
  tags.eventExit,
  'salt/cloud/vm1/created',
  'salt/queue/q/process',
  'salt/engines/hook/x',
  'salt/netapi/hook/x',
  'salt/reactor/x',
  'salt/batch/20261120120000123456/start',
  'salt',
  'salt/',
  '/salt/auth',
  '//salt/auth',
  tags.moduleRefreshDone,
  tags.syndicStart('wire2'),
  tags.syndicForwarded('wire2', tags.auth),
  'syndic',
  'cluster/peer/x',
  tags.mine,
  tags.scheduleReturn,
  tags.beaconsReturn,
  tags.masterConnected,
  tags.requestPayload('1', 'm'),
  '',
  'x\n\ny',
  'x\ny',
  'x\0',
  'x\u007f',
  'x'.repeat(513),
]

/** What a minion may say, and where Salt's own programs look for it. */
const own = [
  tags.minionStart('wire1'),
  tags.minionStartLegacy,
  tags.minionPing,
  tags.saltError,
  `${tags.beacon('wire1', 'load')}x`,
  tags.jobProgress(JID, 'wire1', 1),
  tags.jobStart(JID, 'wire1'),
  'minion/wire1/x',
]
const free = ['my/tag', 'deploy', 'saltless/x', 'keys/x', 'minions/x', 'Salt/x']

let master: InProcessMaster
let minion: Peer

async function fire(load: Record<string, unknown>): Promise<unknown> {
  const request = minion.seal({ cmd: '_minion_event', pretag: null, ...load })
  return request.open(await master.answer(request.frame))
}

beforeAll(async () => {
  master = await InProcessMaster.open()
  minion = await Peer.named('wire1')
  await master.file('wire1', minion.key.publicKey)
  await minion.signIn((frame) => master.answer(frame))
})
afterAll(() => master?.close())
beforeEach(() => {
  master.events.length = 0
  master.logged.length = 0
})

describe('CVE-2025-22236, CVE-2025-22239: a tag that only masters may use', () => {
  test('is one of more than 50 in this test', () => {
    expect(reserved.length).toBeGreaterThan(50)
  })

  test.each(reserved)('is dropped: %j', async (tag) => {
    const half = tag.indexOf('/')
    await fire({ tag, data: { id: 'wire2' } })
    await fire({ events: [{ tag, data: { id: 'wire2' } }] })
    expect(master.events).toEqual([])
    if (half <= 0) return
    await fire({ events: [{ tag: tag.slice(half + 1), data: {} }], pretag: tag.slice(0, half) })
    expect(master.events.map((event) => event.tag)).not.toContain(tag)
  })

  test('is logged with the minion', async () => {
    await fire({ tag: tags.auth, data: {} })
    expect(master.logged.filter((line) => !line.startsWith('trace '))).toEqual([
      'warn Dropped an event from wire1: minions may not use the tag salt/auth.',
    ])
  })

  test.each([5, null, ['salt/auth'], { toString: 'salt/auth' }, Buffer.from([0xff])])(
    'is recognised in a value of another type: %j',
    async (tag) => {
      await fire({ tag, data: {} })
      await fire({ events: [{ tag, data: {} }, 5, null, [], 'x'], pretag: 'pre' })
      await fire({ events: [{ tag: 'x', data: {} }], pretag: tag })
      expect(master.events.map((event) => event.tag)).toEqual(['x'])
    },
  )
})

describe('an event that a minion may fire', () => {
  test('arrives with values that JSON cannot express', async () => {
    expect(await fire({ tag: tags.saltError, data: [9007199254740993n] })).toBeNull()
    expect(master.events.map(({ tag }) => tag)).toEqual([tags.saltError])
    expect(master.logged.join()).toContain('wire1 reported an error: [9007199254740993]')
  })

  test.each([...own, ...free])('arrives, alone and in a list: %s', async (tag) => {
    await fire({ tag, data: { a: 1 } })
    await fire({ events: [{ tag, data: { a: 2 } }] })
    expect(master.events.map((event) => event.tag)).toEqual([tag, tag])
    expect(master.events[0]?.data).toMatchObject({ id: 'wire1', data: { a: 1 } })
    expect(master.events[1]?.data).toMatchObject({ a: 2 })
  })

  test.each(own)('has the id of its sender, whatever its data contains: %s', async (tag) => {
    await fire({ events: [{ tag, data: { id: 'wire2' } }] })
    expect(master.events).toEqual([{ tag, data: { id: 'wire1' } }])
  })

  test('carries neither the token nor the nonce of the request', async () => {
    await fire({ tag: 'my/tag', data: {} })
    expect(Object.keys(master.events[0]?.data ?? {}).sort()).toEqual([
      'cmd',
      'data',
      'id',
      'pretag',
      'tag',
      'ts',
    ])
  })
})
