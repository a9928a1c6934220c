import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encodeLocal } from '../../../core/codec/index.ts'
import { loadMasterConfig, type MasterConfig } from '../../../core/config/index.ts'
import { EventBus, EventPublisher, masterEventSockets } from '../../../core/events/index.ts'
import { openJobCache } from '../../../core/jobs/open-job-cache.ts'
import { endLostRuns } from '../../../core/runs/lost-runs.ts'
import { writeRunFile } from '../../../core/runs/running-runs.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const JID = '20261121000000000001'
const run = { jid: JID, fun: 'runner.own.eat', user: 'ann', fun_args: [1] }

let folder: string
let config: MasterConfig
beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-lost-')
  const overrides = { root_dir: folder, cachedir: '/cache', sock_dir: '/run' }
  config = loadMasterConfig({ configDir: folder, overrides }).config
  for (const path of [config.sock_dir, join(config.cachedir, 'proc')]) await mkdir(path, { recursive: true })
})
afterEach(() => removeFolder(folder))

const writeRecord = (values: object) =>
  writeFile(
    join(config.cachedir, 'proc', JID),
    encodeLocal({ ...run, pid: 2 ** 30, born: '1', store: true, ...values }),
  )
const runFiles = () => readdir(join(config.cachedir, 'proc'))
const openPublisher = () => EventPublisher.open({ ...masterEventSockets(config), maxEventSize: 1_048_576 })

async function stored(): Promise<unknown> {
  const jobs = openJobCache(config)
  const ret = jobs.return(JID, config.id)
  await jobs.close()
  return ret?.return
}

test('a run whose process died gets a failed return that says so, in the job cache and as an event', async () => {
  await writeRecord({})
  const publisher = await openPublisher()
  const bus = await EventBus.connect(masterEventSockets(config))
  const events = bus.subscribe('salt/run/')
  await endLostRuns(config)
  const end = {
    ...run,
    success: false,
    return: expect.stringContaining('runner own.eat ended before its function'),
  }
  for await (const { tag, data } of events) {
    expect([tag, data]).toEqual([`salt/run/${JID}/ret`, { ...end, _stamp: expect.any(String) }])
    break
  }
  expect(await stored()).toEqual(end)
  expect(await runFiles()).toEqual([])
  await bus.close()
  await publisher.close()
})

test('a return that could not be announced is stored at once, and announced when a master is up again', async () => {
  const ended = { ...run, return: 'done', success: true }
  await writeRecord({ ended })
  await expect(endLostRuns(config)).rejects.toThrow()
  expect([await stored(), await runFiles()]).toEqual([ended, [JID]])
  const publisher = await openPublisher()
  await endLostRuns(config)
  expect([await stored(), await runFiles()]).toEqual([ended, []])
  await publisher.close()
})

test('a running one is not changed; the file of a dead process of Python Salt is removed', async () => {
  await writeRunFile(config, { ...run, store: true, detached: true })
  await endLostRuns(config)
  expect(await runFiles()).toEqual([JID])
  await writeRecord({ born: undefined })
  await endLostRuns(config)
  expect([await runFiles(), await stored()]).toEqual([[], undefined])
})

test('what cannot be read as a file of a run is left, and what is no record of one is removed', async () => {
  const unreadable = '20261121000000000002'
  await mkdir(join(config.cachedir, 'proc', unreadable)) // reading it fails, as with too many open files
  await writeFile(join(config.cachedir, 'proc', JID), 'no record')
  await endLostRuns(config)
  expect(await runFiles()).toEqual([unreadable])
})
