import { afterEach, beforeEach, expect, test } from 'vitest'
import { deferred } from '../../../../core/base/deferred.ts'
import { SaltError } from '../../../../core/base/errors.ts'
import { ControlFunctions } from '../../../../core/minion/control-functions.ts'
import { JobIntake } from '../../../../core/minion/jobs/job-intake.ts'
import { ProcTable } from '../../../../core/minion/jobs/proc-table.ts'
import { ReturnDelivery } from '../../../../core/minion/jobs/return-delivery.ts'
import { createMinionServices } from '../../../../core/minion/services.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { quietLog } from '../../../harness/log.ts'
import { until } from '../../../harness/until.ts'

type Settings = ConstructorParameters<typeof JobIntake>[0]

let folder: string
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-intake-')
})
afterEach(() => removeFolder(folder))

const jid = '20261122000000000001'
const job = { jid, fun: 'cmd.run', arg: ['true'], tgt: '*', tgt_type: 'glob', ret: '' }

/** A minion whose disk is full; `request` is what its master answers. */
async function openOnFullDisk(request: () => Promise<unknown>, log = quietLog) {
  const known = new Set<string>()
  const full = () => Promise.reject(new SaltError('STORE_FAILED', 'The disk is full: nothing was stored.'))
  const { procs } = await ProcTable.open(folder)
  const publishConnection = { isUp: true, established: 1 }
  const onChange = () => () => undefined
  const connection = { address: 'master:4506', isSignedIn: true, publishConnection, onChange, request }
  const spool = { add: full, pending: () => [], find: () => undefined }
  const shared = {
    config: { id: 'web1', pub_ret: true, return_retry_timer: 1, return_retry_timer_max: 2 },
    seen: {
      accept: full,
      settle: full,
      acceptUnstored: ({ jid }: { jid: string }) => !known.has(jid) && !!known.add(jid),
    },
    connections: [connection],
    log,
    closing: new AbortController().signal,
    procs,
    spool,
  }
  const intake = new JobIntake({
    ...shared,
    returns: new ReturnDelivery(shared as unknown as ConstructorParameters<typeof ReturnDelivery>[0]),
    facts: { isTargetedBy: () => true },
    waiting: [],
    time: { now: () => 0 },
    pool: { idle: 1 },
    control: new ControlFunctions(),
  } as unknown as Settings)
  const services = createMinionServices({ procs, spool } as unknown as Parameters<
    typeof createMinionServices
  >[0])
  return {
    services,
    take: (how: { isRepeated?: boolean } = {}) =>
      intake.onJob(
        { job, serial: 1, keyDigest: 'k', ...how } as Parameters<JobIntake['onJob']>[0],
        connection as never,
      ),
  }
}

test('a job whose return is only in memory is listed until the master has it', async () => {
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

test('a repeated publication of a job is a warning, unless the first one was requested by the minion', async () => {
  const warnings: string[] = []
  const log = { ...quietLog, warn: (line: string) => void warnings.push(line) }
  const published = await openOnFullDisk(async () => null, log)
  await published.take()
  await published.take({ isRepeated: true })
  const asked = await openOnFullDisk(async () => null, log)
  await asked.take({ isRepeated: true })
  await asked.take()
  expect(warnings.filter((line) => line.includes('seen before'))).toEqual([])
  await published.take()
  expect(warnings.filter((line) => line.includes('seen before'))).toHaveLength(1)
})
