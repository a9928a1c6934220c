import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Cluster, Daemon, run } from '../harness/daemons.ts'
import { freePort } from '../harness/ports.ts'
import { signalAll } from '../harness/processes.ts'
import { runHere } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

/** One for all tests: each starts what it needs and the one before it ended. */
let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.open({ start: false })
})
afterAll(() => cluster?.close())

const isDown = (daemon: Daemon) => daemon.processes().length === 0

async function masterUp(): Promise<Daemon> {
  if (isDown(cluster.master)) await cluster.startMaster()
  return cluster.master
}

/** With the master up. */
async function minionUp(): Promise<Daemon> {
  await masterUp()
  const minion = cluster.minions.get('web1')
  if (!minion) return cluster.addMinion('web1')
  if (isDown(minion)) {
    minion.output = ''
    minion.start()
    await minion.logged('is ready to receive jobs')
  }
  return minion
}

async function ended(daemon: Daemon, how: () => unknown): Promise<void> {
  await how()
  await daemon.exited()
  await until('all its processes to be gone', () => daemon.processes().length === 0)
}

test('a second master on the same ports names the process that uses them, ends with an error, and does no harm', async () => {
  await minionUp()
  const same = await run('salt-master', ['-c', cluster.configDir, '-l', 'info'])
  expect(same.code).not.toBe(0)
  expect(same.stderr).toContain(`process ${cluster.master.pid}`)
  expect(same.stderr).toContain(`:${cluster.ports.request}`)

  const other = new Daemon('salt-master', join(cluster.root, 'other'), {
    ...cluster.master.options,
    root_dir: join(cluster.root, 'other'),
    ret_port: cluster.ports.request + 1,
  })
  await other.writeConfig()
  other.start()
  await other.exited()
  expect(other.exitCode).not.toBe(0)
  expect(other.output).toContain(`:${cluster.ports.publish}`)
  expect(other.output).toMatch(/process \d+ \(salt-master publisher/)
  expect(other.processes()).toEqual([])

  const { stdout } = await cluster.spawned('salt', 'web1', 'test.ping', '--out', 'txt')
  expect(stdout).toBe('web1: True\n')
})

test('a minion refuses the cachedir of another running one, whatever its id, and names the other', async () => {
  const first = await minionUp()
  for (const id of ['web2', 'web1']) {
    const second = new Daemon('salt-minion', join(cluster.root, 'second'), {
      ...first.options,
      id,
      sock_dir: '/other',
    })
    await second.writeConfig()
    second.start()
    await second.exited()
    expect(second.exitCode).toBe(1)
    expect(second.output).toContain(
      `salt-minion ${id} cannot use the directory ${join(first.directory, 'cache')}: ` +
        `salt-minion web1, process ${first.pid}, already does. Stop that one`,
    )
  }
  const local = await runHere('salt-call', ['-c', first.directory, 'test.ping', '--out', 'txt'])
  expect(local.stdout).toBe('local: True\n')
  expect((await cluster.spawned('salt', 'web1', 'test.ping', '--out', 'txt')).stdout).toBe('web1: True\n')

  await first.killAll()
  first.output = ''
  const other = new Daemon('salt-minion', first.directory, { ...first.options, id: 'web2' })
  await other.writeConfig()
  other.start()
  await other.logged('is ready to receive jobs')
  await other.stop()
  await first.writeConfig()
})

test('a master on other ports refuses the cachedir of a running master', async () => {
  await masterUp()
  const second = new Daemon('salt-master', join(cluster.root, 'second'), {
    ...cluster.master.options,
    sock_dir: '/other',
    publish_port: await freePort(),
    ret_port: await freePort(),
  })
  await second.writeConfig()
  second.start()
  await second.exited()
  expect(second.exitCode).toBe(1)
  expect(second.output).toContain(
    `salt-master cannot use the directory ${join(cluster.master.directory, 'cache')}: ` +
      `salt-master, process ${cluster.master.pid}, already does. Stop that one`,
  )
  expect(second.processes()).toEqual([])

  await cluster.master.killAll()
  second.output = ''
  second.start()
  await second.logged('salt-master is ready')
  await second.stop()
})

test('files that a killed master or minion leaves do not keep it from starting: 4 rounds of kill -9', async () => {
  const minion = await minionUp()
  for (let round = 0; round < 4; round++) {
    const { master } = cluster
    // In odd rounds only the supervisor dies; what it started has to give way by itself.
    if (round % 2) signalAll([master.pid], 'SIGKILL')
    else await master.killAll()
    await master.exited()
    await cluster.startMaster()
    if (round % 3) continue
    await minion.killAll()
    minion.output = ''
    minion.start()
  }
  await minion.logged('is ready to receive jobs')
  const { stdout } = await cluster.spawned('salt', 'web1', 'test.ping', '--out', 'txt')
  expect(stdout).toBe('web1: True\n')
  const keys = await readFile(join(cluster.master.directory, 'pki', 'master.pub'), 'utf8')
  expect(keys).toContain('BEGIN PUBLIC KEY')
})

test('SIGTERM ends a master and a minion and leaves no process', async () => {
  const minion = await minionUp()
  await ended(minion, () => signalAll([minion.pid], 'SIGTERM'))
  expect(minion.exitCode).toBe(0)
  await ended(cluster.master, () => signalAll([cluster.master.pid], 'SIGTERM'))
  expect(cluster.master.exitCode).toBe(0)
})

test('Ctrl-C, which every process of the group gets, ends both as well', async () => {
  for (const daemon of [await minionUp(), cluster.master]) {
    const group = daemon.processes().map(({ pid }) => pid)
    await ended(daemon, () => signalAll(group, 'SIGINT'))
    expect(daemon.exitCode).toBe(0)
  }
})

test('SIGTERM ends a master while it is starting and a worker hangs, and leaves no process', async () => {
  if (!isDown(cluster.master)) await ended(cluster.master, () => cluster.master.stop())
  cluster.master.start()
  const worker = await until('a worker', () =>
    cluster.master.processes().find(({ command }) => /worker-process|MWorker/.test(command)),
  )
  signalAll([worker.pid], 'SIGSTOP')
  await ended(cluster.master, () => signalAll([cluster.master.pid], 'SIGTERM'))
  expect(cluster.master.exitCode).toBe(0)
  expect(cluster.master.output).toContain('salt-master is stopped while it is starting')
})

test('SIGTERM ends a master even if a worker and the publisher hang', async () => {
  const master = await masterUp()
  const hanging = master.processes().filter(({ pid }) => pid !== master.pid)
  const stop = () => {
    signalAll(
      hanging.map(({ pid }) => pid),
      'SIGSTOP',
    )
    signalAll([master.pid], 'SIGTERM')
  }
  await ended(master, stop)
})
