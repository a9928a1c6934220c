import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { deferred } from '../../../core/base/deferred.ts'
import { SaltError } from '../../../core/base/errors.ts'
import { ControlFunctions } from '../../../core/minion/control-functions.ts'
import { JobIntake } from '../../../core/minion/job-intake.ts'
import { ProcTable } from '../../../core/minion/proc-table.ts'
import { createServices } from '../../../core/minion/services.ts'
import { recordingLog } from '../../../core/testing/recording-log.ts'
import { until } from '../../harness/until.ts'

type Settings = ConstructorParameters<typeof JobIntake>[0]

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'salt-ts-intake-'))
})
afterEach(() => rm(folder, { recursive: true }))

const jid = '20261122000000000001'
const job = { jid, fun: 'cmd.run', arg: ['true'], tgt: '*', tgt_type: 'glob', ret: '' }

/** A minion whose disk is full; `request` is what its master answers. */
async function openOnFullDisk(request: () => Promise<unknown>) {
  const full = () => Promise.reject(new SaltError('STORE_FAILED', 'The disk is full: nothing was stored.'))
  const { procs } = await ProcTable.open(folder)
  const link = { address: 'master:4506', isSignedIn: true, request }
  const spool = { add: full, pending: () => [], find: () => undefined }
  const intake = new JobIntake({
    config: { id: 'web1', pub_ret: true, return_retry_timer: 1, return_retry_timer_max: 2 },
    facts: { isMeantBy: () => true },
    seen: { accept: full, settle: full, acceptUnstored: () => true },
    waited: [],
    time: { now: () => 0 },
    pool: { idle: 1 },
    control: new ControlFunctions(),
    links: [link],
    log: recordingLog(() => {}),
    closing: new AbortController().signal,
    ...{ procs, spool },
  } as unknown as Settings)
  const services = createServices({ procs, spool } as unknown as Parameters<typeof createServices>[0])
  return {
    services,
    take: () =>
      intake.onJob({ job, serial: 1, keyDigest: 'k' } as Parameters<JobIntake['onJob']>[0], link as never),
  }
}

test('a job whose return only the memory holds is known until the master has it', async () => {
  const answer = deferred<null>()
  let asked = false
  const { take, services } = await openOnFullDisk(() => {
    asked = true
    return answer.promise
  })
  const taken = take()
  await until('its return to be sent', () => asked)
  expect(await services.running()).toEqual([
    expect.objectContaining({ jid, fun: 'cmd.run', state: 'returning' }),
  ])
  expect(await services.signalJob(jid, 15)).toBe('')
  answer.resolve(null)
  await taken
  expect(await services.running()).toEqual([])
})
