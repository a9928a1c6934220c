import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RequestClient } from '../../core/transport/contract.ts'
import { getTransport } from '../../core/transport/index.ts'
import { openProxy, type ProxySettings, type WorkerProxy } from '../../core/transport/proxy.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { testProgram } from '../harness/test-program.ts'
import { eventually } from '../harness/until.ts'

const zeromq = getTransport('zeromq')
const program = await testProgram('../fixtures/device-worker.ts', import.meta.url)

describe('the device with worker processes', () => {
  let directory: string
  let backend: string
  let device: WorkerProxy
  let client: RequestClient
  const processes = new Map<string, ChildProcess>()

  const open = async (settings: Partial<ProxySettings> = {}) => {
    const front = await zeromq.openRequestPort({ host: '127.0.0.1', port: 0 })
    device = await openProxy({
      fronts: [front],
      backend,
      refusal: Buffer.from('refused'),
      ...settings,
    })
    client = zeromq.connectRequests({ host: '127.0.0.1', port: front.port })
  }
  const startWorker = async (name: string) => {
    const child = fork(program, [backend, name], { execArgv: [] })
    processes.set(name, child)
    await once(child, 'message')
    await eventually(() => expect(device.workers.has(name)).toBe(true))
    return child
  }
  /** As the supervisor does: end stuck workers, report those that end. */
  const supervise = (name: string) => {
    processes.get(name)?.once('exit', () => device.workerGone(name))
    device.onStuck((worker) => processes.get(worker)?.kill('SIGKILL'))
  }
  const ask = async (text: string, timeoutMs = 10_000) =>
    Buffer.from(await client.request(Buffer.from(text), timeoutMs)).toString()

  beforeEach(async () => {
    directory = await temporaryFolder('device-')
    backend = join(directory, 'workers.ipc')
  })
  afterEach(async () => {
    await client?.close()
    await device?.close()
    for (const child of processes.values()) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    processes.clear()
    await removeFolder(directory)
  })

  test('spreads requests over its workers', async () => {
    await open()
    await Promise.all([startWorker('w1'), startWorker('w2')])
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => ask(`${i}`)))
    expect(answers.map((answer) => answer.split(': ')[1])).toEqual(
      Array.from({ length: 40 }, (_, i) => `${i}`),
    )
    expect(new Set(answers.map((answer) => answer.split(': ')[0]))).toEqual(new Set(['w1', 'w2']))
  })

  test('offers the socket for workers to its own user only', async () => {
    await open()
    expect((await stat(backend)).mode & 0o777).toBe(0o600)
  })

  test('answers requests that came before the first worker', async () => {
    await open()
    const answer = ask('early')
    await startWorker('w1')
    expect(await answer).toBe('w1: early')
  })

  test('detects a worker that hangs, and has its requests answered by another one', async () => {
    await open()
    const stopped = await startWorker('w1')
    supervise('w1')
    const stuck = new Promise((resolve) => device.onStuck(resolve))
    stopped.kill('SIGSTOP')
    const answers = ['a', 'b', 'c'].map((text) => ask(text))
    expect(await stuck).toBe('w1')
    await startWorker('w2')
    expect(await Promise.all(answers)).toEqual(['w2: a', 'w2: b', 'w2: c'])
  })

  test('refuses a request that hangs two workers, and answers the other pending requests', async () => {
    await open()
    for (const name of ['w1', 'w2', 'w3']) await startWorker(name)
    for (const name of ['w1', 'w2', 'w3']) supervise(name)
    const hanging = ask('hang')
    const beside = Array.from({ length: 30 }, (_, i) => ask(`${i}`))
    expect(await hanging).toBe('refused')
    expect((await Promise.all(beside)).length).toBe(30)
    await eventually(() => expect([...device.workers.keys()].length).toBe(1))
  })

  test('answers all requests although a worker is killed', async () => {
    await open()
    await Promise.all([startWorker('w1'), startWorker('w2')])
    supervise('w1')
    supervise('w2')
    const answers = Array.from({ length: 200 }, (_, i) => ask(`${i}`))
    processes.get('w1')?.kill('SIGKILL')
    const texts = (await Promise.all(answers)).map((answer) => answer.split(': ')[1])
    expect(texts).toEqual(Array.from({ length: 200 }, (_, i) => `${i}`))
  })

  test('delivers the late answer of a worker that it had given up', async () => {
    await open({ stuckMs: 400 })
    await startWorker('w1')
    expect(await ask('late')).toBe('w1: late')
  })

  test('loses no request when a worker ends on SIGTERM', async () => {
    await open()
    const first = await startWorker('w1')
    await startWorker('w2')
    supervise('w1')
    const answers = Array.from({ length: 300 }, (_, i) => ask(`${i}`))
    first.kill('SIGTERM')
    const [code] = await once(first, 'exit')
    expect((await Promise.all(answers)).length).toBe(300)
    expect(code).toBe(0)
  })

  test('refuses requests when its workers are full', async () => {
    await open({ maxOutstanding: 2 })
    await startWorker('w1')
    void ask('never').catch(() => undefined)
    void ask('never').catch(() => undefined)
    await eventually(() => expect(device.workers.get('w1')?.outstanding).toBe(2))
    expect(await ask('x')).toBe('refused')
  })

  test('refuses to take over the socket of a running device', async () => {
    await open()
    const second = openProxy({
      fronts: [await zeromq.openRequestPort({ host: '127.0.0.1', port: 0 })],
      backend,
      refusal: Buffer.alloc(0),
    })
    await expect(second).rejects.toMatchObject({ code: 'ADDRESS_IN_USE', data: { path: backend } })
  })

  test('works over TCP where there are no unix sockets', async () => {
    const probe = await zeromq.openRequestPort({ host: '127.0.0.1', port: 0 })
    backend = `tcp://127.0.0.1:${probe.port}`
    await probe.close()
    await open()
    await startWorker('w1')
    expect(await ask('x')).toBe('w1: x')
  })
})
