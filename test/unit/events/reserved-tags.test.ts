import { describe, expect, test } from 'vitest'
import { isReservedTag, tags } from '../../../core/events/index.ts'
import { vectors } from '../../harness/vectors.ts'

const jid = '20261120120000123456'

describe('tags a minion may not fire on the master bus', () => {
  test.each([
    tags.jobReturn(jid, 'B'),
    tags.jobReturn(jid, 'A'),
    tags.jobNew(jid),
    tags.jobError(jid),
    tags.jobError(),
    tags.jobProgress(jid, 'B', 1),
    `salt/job/${jid}/prog/A`,
    `salt/job/${jid}/stored/A`,
    `salt/job/${jid}/stored/B/postgres`,
    tags.jobStart(jid, 'B'),
    tags.jobStart(jid, ''),
    tags.jobStart('', 'A'),
    `${tags.jobStart(jid, 'A')}/x`,
    `${tags.jobStart(jid, 'A')}/`,
    `salt/job//prog/A/1`,
    `salt/job/${jid}/sub/B/error/x`,
    `salt/job/${jid}/sub/A/error/x`,
    jid,
    `${jid}_17`,
    `${jid}/x`,
    tags.auth,
    tags.key,
    tags.keyRotated,
    'key/x',
    'new_job',
    tags.minionStart('B'),
    'salt/minion/A',
    tags.minionRefresh('A'),
    tags.minionRefresh('B'),
    'minion/B/x',
    'minion/AA/x',
    tags.beacon('B', 'load'),
    'salt/beacon/A',
    tags.presencePresent,
    tags.presenceChange,
    tags.runNew(jid),
    tags.runReturn(jid),
    tags.wheelNew(jid),
    tags.wheelReturn(jid),
    tags.stats('MWorker-1'),
    tags.fileserverUpdate('roots'),
    'salt/cloud/vm1/created',
    'salt/queue/q/process',
    'salt/engines/hook/x',
    'salt/netapi/hook/x',
    tags.eventExit,
    'salt',
    'salt/',
    'salt//x',
    '/salt/auth',
    '//salt/auth',
    tags.moduleRefreshDone,
    tags.syndicForwarded('B', 'x'),
    tags.syndicStart('B'),
    'syndic',
    'cluster/peer/x',
    '_minion_mine',
    tags.requestPayload('1', 'm'),
    tags.masterConnected,
    '',
    '/',
    'x\n\ny',
    'x\ny',
    'x\u0000',
  ])('%j is reserved', (tag) => {
    expect(isReservedTag(tag, 'A')).toBe(true)
  })

  test.each([
    tags.minionStart('A'),
    tags.minionStartLegacy,
    tags.minionPing,
    tags.saltError,
    `${tags.beacon('A', 'load')}x`,
    tags.jobProgress(jid, 'A', 1),
    tags.jobStart(jid, 'A'),
    `salt/state_result/${jid}/A/name`,
    'salt/minion/A/anything/else',
    'minion/A/anything',
    tags.syndicStart('A'),
    tags.syndicStartLegacy,
    tags.syndicForwarded('A', 'x'),
    'my/company/deployed',
    'update',
    'keyboard/pressed',
    'saltines',
    '2026/11/20',
    'ünïcode/tag',
  ])('%j is allowed', (tag) => {
    expect(isReservedTag(tag, 'A')).toBe(false)
  })

  test('are the same for a minion whose id is a part of a tag', () => {
    expect(isReservedTag('minion/refresh/B', 'refresh')).toBe(true)
    expect(isReservedTag(`salt/job/${jid}/ret/B`, 'ret')).toBe(true)
    expect(isReservedTag('salt/job/prog/prog/job/1', 'job')).toBe(false)
  })
})

const minionsEvents =
  /^(minion_start|syndic_start|_salt_error|minion_ping|salt\/(minion|syndic)\/.*\/start|salt\/job\/.*\/prog\/.*)$/
const recorded = vectors<{ master_bus: { tag: string }[] }>('events')

describe('tags on the bus of a real master', () => {
  test('are reserved, except those that minions themselves fire', () => {
    const seen = new Set(recorded.master_bus.map(({ tag }) => tag))
    const free = [...seen].filter((tag) => !isReservedTag(tag, 'wire1') && !isReservedTag(tag, 'wire2'))
    expect(
      free.filter((tag) => /^(salt|syndic|minion|key|\d{20})/.test(tag) && !minionsEvents.test(tag)),
    ).toEqual([])
  })
})
