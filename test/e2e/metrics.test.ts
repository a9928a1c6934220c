import { createConnection } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LocalClient } from '../../core/client/index.ts'
import { masterEventSockets } from '../../core/events/index.ts'
import { Cluster } from '../harness/daemons.ts'
import { sampleOf, scrape } from '../harness/exposition.ts'
import { freePort } from '../harness/ports.ts'
import { isAlive, treeOf } from '../harness/processes.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { until } from '../harness/until.ts'

let cluster: Cluster
let client: LocalClient
let ports: { master: number; minion: number }
beforeAll(async () => {
  ports = { master: await freePort(), minion: await freePort() }
  cluster = await Cluster.open({
    minions: ['web1'],
    master: { metrics_port: ports.master, worker_threads: 2, loop_interval: 1, presence_events: true },
    minion: { metrics_port: ports.minion, process_count_max: 2 },
  })
  client = await cluster.client()
})
afterAll(async () => {
  await client?.close()
  await cluster?.close()
})

const master = async () => (await scrape(ports.master)).families
const minion = async () => (await scrape(ports.minion)).families

describe('after a known workload', () => {
  let before: Awaited<ReturnType<typeof master>>
  let minionBefore: Awaited<ReturnType<typeof minion>>
  beforeAll(async () => {
    await until(
      'the minion to be seen',
      async () => sampleOf(await master(), 'salt_master_minions_connected') === 1,
    )
    const isRefused = () =>
      returnsOf(client, { tgt: '*', fun: 'test.pign' }).then(
        () => false,
        () => true,
      )
    await until('the master to know the functions of the minion', isRefused)
    before = await master()
    minionBefore = await minion()
    for (let n = 0; n < 3; n++) await returnsOf(client, { tgt: '*', fun: 'test.ping' })
    await returnsOf(client, { tgt: '*', fun: 'test.exception' })
    await returnsOf(client, { tgt: '*', fun: 'test.sleep', arg: [0.3] })
    await expect(returnsOf(client, { tgt: 'nobody', fun: 'test.ping' })).rejects.toThrow()
    await expect(returnsOf(client, { tgt: '*', fun: 'test.pign' })).rejects.toThrow('is not available')
  })

  /** How much a value has grown meanwhile. */
  const grown = (
    [first, last]: readonly Awaited<ReturnType<typeof master>>[],
    name: string,
    labels: Record<string, string> = {},
  ) => (sampleOf(last!, name, labels) ?? 0) - (sampleOf(first!, name, labels) ?? 0)

  test('a master counts jobs, returns and failures, and measures how long they took', async () => {
    const pair = [before, await master()]
    expect(grown(pair, 'salt_master_jobs_published_total')).toBe(5)
    expect(grown(pair, 'salt_master_returns_total', { success: 'true' })).toBe(4)
    expect(grown(pair, 'salt_master_returns_total', { success: 'false' })).toBe(1)
    expect(grown(pair, 'salt_master_job_failures_total', { fun: 'test.exception' })).toBe(1)
    const duration = 'salt_master_job_duration_seconds'
    expect(grown(pair, `${duration}_count`, { fun: 'test.ping' })).toBe(3)
    expect(grown(pair, `${duration}_bucket`, { fun: 'test.sleep', le: '0.25' })).toBe(0)
    expect(grown(pair, `${duration}_sum`, { fun: 'test.sleep' })).toBeGreaterThan(0.3)
    expect(grown(pair, 'salt_master_request_duration_seconds_count', { command: '_return' })).toBe(5)
    expect(grown(pair, 'salt_master_request_duration_seconds_count', { command: 'publish' })).toBe(7)
    expect(grown(pair, 'salt_master_refusals_total', { command: 'publish' })).toBe(1)
    expect(grown(pair, 'salt_events_fired_total', { kind: 'job_new' })).toBe(5)
    expect(grown(pair, 'salt_events_fired_total', { kind: 'job_return' })).toBe(5)
  })

  test('a minion counts its own jobs, returns and failures', async () => {
    const pair = [minionBefore, await minion()]
    expect(grown(pair, 'salt_minion_jobs_received_total')).toBe(5)
    expect(grown(pair, 'salt_minion_jobs_finished_total', { outcome: 'success' })).toBe(4)
    expect(grown(pair, 'salt_minion_jobs_finished_total', { outcome: 'failure' })).toBe(1)
    expect(grown(pair, 'salt_minion_job_failures_total', { fun: 'test.exception' })).toBe(1)
    expect(grown(pair, 'salt_minion_job_duration_seconds_sum', { fun: 'test.sleep' })).toBeGreaterThan(0.3)
  })
})

test('a master reports the state of its processes', async () => {
  const { families, type } = await scrape(ports.master)
  expect(type).toMatch(/^application\/openmetrics-text; version=1\.0\.0/)
  const processes = ['supervisor', 'publisher', 'MWorker-0', 'MWorker-1']
  for (const process of processes) {
    expect(sampleOf(families, 'salt_process_up', { process })).toBe(1)
    expect(sampleOf(families, 'salt_process_resident_memory_bytes', { process })).toBeGreaterThan(10e6)
    expect(sampleOf(families, 'salt_process_cpu_seconds_total', { process })).toBeGreaterThan(0.01)
  }
  expect(sampleOf(families, 'salt_build_info', { program: 'salt-master' })).toBe(1)
  expect(sampleOf(families, 'salt_master_keys', { state: 'accepted' })).toBe(1)
  expect(sampleOf(families, 'salt_master_keys', { state: 'pending' })).toBe(0)
  expect(sampleOf(families, 'salt_master_sign_ins_total', { result: 'accept' })).toBeGreaterThan(0)
  expect(sampleOf(families, 'salt_master_subscribers')).toBe(1)
  expect(sampleOf(families, 'salt_master_requests_waiting')).toBe(0)
  expect(sampleOf(families, 'salt_master_requests_held', { process: 'MWorker-1' })).toBe(0)
  expect(sampleOf(families, 'salt_master_publications_dropped_total')).toBe(0)
  expect(sampleOf(families, 'salt_master_batches_open')).toBe(0)
  expect(sampleOf(families, 'salt_master_runners_running')).toBe(0)
  expect(sampleOf(families, 'salt_master_job_cache_bytes')).toBeGreaterThan(0)
  expect(sampleOf(families, 'salt_event_lag_seconds_count')).toBeGreaterThan(0)
  expect((await scrape(ports.master, 'prometheus')).type).toMatch(/^text\/plain; version=0\.0\.4/)
})

test('a minion reports how many jobs run and how many are queued', async () => {
  for (let n = 0; n < 3; n++) await client.runJob({ tgt: '*', fun: 'test.sleep', arg: [2] })
  await until('a job to wait', async () => {
    const families = await minion()
    const [running, queued] = ['running', 'queued'].map((what) =>
      sampleOf(families, `salt_minion_jobs_${what}`),
    )
    return running === 2 && queued === 1
  })
  const address = `127.0.0.1:${cluster.ports.request}`
  expect(sampleOf(await minion(), 'salt_minion_master_connected', { master: address })).toBe(1)
  await until('all to be over', async () => sampleOf(await minion(), 'salt_minion_jobs_running') === 0)
  await until(
    'them to be delivered',
    async () => sampleOf(await minion(), 'salt_minion_spooled_returns') === 0,
  )
})

test('the backlog of an event reader that does not read is reported', async () => {
  const { pubPath } = masterEventSockets(cluster.config)
  const reader = createConnection(pubPath)
  reader.pause()
  await until('it to be counted', async () => (sampleOf(await master(), 'salt_event_readers') ?? 0) > 2)
  const bus = await cluster.events()
  for (let n = 0; n < 200; n++) await bus.fire('custom/large', { text: 'x'.repeat(10_000) })
  await until('the backlog', async () => (sampleOf(await master(), 'salt_event_backlog_events') ?? 0) > 10)
  expect(sampleOf(await master(), 'salt_events_fired_total', { kind: 'other' })).toBeGreaterThanOrEqual(200)
  reader.destroy()
  await until('it to be forgotten', async () => sampleOf(await master(), 'salt_event_backlog_events') === 0)
  await bus.close()
})

test('a replaced worker is counted, and its counters are kept', async () => {
  const published = sampleOf(await master(), 'salt_master_jobs_published_total') ?? 0
  const worker = treeOf(cluster.master.pid).find(({ command }) => command.includes('MWorker-0'))!
  process.kill(worker.pid, 'SIGKILL')
  await until('the restart', async () => {
    const families = await master()
    const isUp = sampleOf(families, 'salt_process_up', { process: 'MWorker-0' }) === 1
    return isUp && sampleOf(families, 'salt_master_process_restarts_total', { process: 'MWorker-0' }) === 1
  })
  expect(isAlive(worker.pid)).toBe(false)
  expect(sampleOf(await master(), 'salt_master_jobs_published_total')).toBe(published)
})

test('a worker that hangs is counted as stuck, and does not delay the metrics', async () => {
  const worker = treeOf(cluster.master.pid).find(({ command }) => command.includes('MWorker-1'))!
  process.kill(worker.pid, 'SIGSTOP')
  await until('it to be replaced', async () => {
    const families = await master()
    const isUp = sampleOf(families, 'salt_process_up', { process: 'MWorker-0' }) === 1
    return isUp && sampleOf(families, 'salt_master_workers_stuck_total') === 1
  })
})

test('a minion reports that it has lost its master', async () => {
  await cluster.master.stop()
  await until('it to notice', async () => sampleOf(await minion(), 'salt_minion_master_connected') === 0)
  await cluster.startMaster()
  await until('it to be back', async () => sampleOf(await minion(), 'salt_minion_master_connected') === 1)
  expect(sampleOf(await minion(), 'salt_minion_master_connections_total')).toBe(2)
})
