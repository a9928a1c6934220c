import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { verifyAudit } from '../../../../core/auth/audit/index.ts'
import { localRefusalLog, remoteRefusalLog } from '../../../../core/client/remote/refusal-log.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import type { ApiRefusal } from '../../../../core/wire/api-refusal.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'

const refusal: ApiRefusal = {
  act: 'request',
  user: '',
  request: 'POST /',
  reason: 'No authentication credentials given',
  via: { address: '192.0.2.7' },
}
const many = (count: number) => Array.from({ length: count })

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-refusals-')
})
afterEach(() => removeFolder(folder))

test('of many refusals a hundred a minute are written to the audit log of this host', async () => {
  const config = { audit_log: join(folder, 'audit.log'), cachedir: folder }
  const { log, lines } = fakeLog()
  const refusals = localRefusalLog(config, log)
  await Promise.all(many(1_000).map(() => refusals.note(refusal)))
  await refusals.close()
  const written = (await readFile(config.audit_log, 'utf8')).trim().split('\n')
  expect(written).toHaveLength(100)
  expect(JSON.parse(written[0] ?? '')).toMatchObject({
    act: 'request',
    verdict: 'refused',
    user: '',
    claimed: true,
    by: 'salt-api',
    request: 'POST /',
    reason: refusal.reason,
    via: { claimed_address: '192.0.2.7' },
  })
  expect((await verifyAudit(config.audit_log, undefined)).problems).toEqual([])
  expect(lines).toEqual([])
})

test('of many refusals a hundred a minute are sent to the master, and then the number of those left out', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const told: unknown[] = []
    const { note } = remoteRefusalLog(async (load) => void told.push(load), fakeLog().log)
    await Promise.all(many(1_000).map(() => note(refusal)))
    expect(told).toHaveLength(100)
    vi.setSystemTime(Date.now() + 60_000)
    await note(refusal)
    expect(told.at(-1)).toEqual({ cmd: '_client_refusal', ...refusal, leftOut: 900 })
  } finally {
    vi.useRealTimers()
  }
})

test('refusals during an outage of the master are counted, and the number is sent once it is back', async () => {
  const told: unknown[] = []
  let away = true
  const ask = async (load: unknown) => {
    if (away) throw new Error('The master does not answer.')
    told.push(load)
  }
  const { log, lines } = fakeLog()
  const { note } = remoteRefusalLog(ask, log)
  for (const _ of many(5)) await note(refusal)
  away = false
  await note(refusal)
  expect(told).toMatchObject([{ leftOut: 5 }])
  expect(lines.map(({ message }) => message)).toEqual([
    'What this server refuses is not in the audit log of the master: The master does not answer.',
  ])
})
