import { request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from '../../../core/base/deferred.ts'
import { openEndpoint } from '../../../core/metrics/endpoint.ts'
import { serveMetrics } from '../../../core/metrics/server.ts'
import type { Snapshot } from '../../../core/metrics/snapshot.ts'
import { scrape } from '../../harness/exposition.ts'
import { quietLog } from '../../harness/log.ts'
import { freePort } from '../../harness/ports.ts'
import { SLOW } from '../../harness/slow.ts'
import { until } from '../../harness/until.ts'

const snapshot: Snapshot = { salt_master_subscribers: [{ labels: [], value: 7 }] }

async function serve(gather = async () => snapshot) {
  const server = await serveMetrics({ host: '127.0.0.1', port: 0, gather, log: quietLog })
  onTestFinished(() => server.close())
  return server
}

const ask = async (port: number, path: string, init: RequestInit = {}) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
  return { status: response.status, body: await response.text() }
}

test('the content type names the format', async () => {
  const { port } = await serve()
  expect((await scrape(port, 'openmetrics')).type).toBe(
    'application/openmetrics-text; version=1.0.0; charset=utf-8',
  )
  expect((await scrape(port, 'prometheus')).type).toBe('text/plain; version=0.0.4; charset=utf-8')
})

test('other paths are answered with 404, and other methods are refused', async () => {
  const { port } = await serve()
  expect(await ask(port, '/')).toEqual({ status: 404, body: 'Not found: this server has only /metrics.\n' })
  expect(await ask(port, '/metrics', { method: 'POST', body: 'x' })).toMatchObject({ status: 405 })
  expect(await ask(port, '/metrics?x=1')).toMatchObject({ status: 200 })
  expect(await ask(port, '/metrics', { method: 'HEAD' })).toEqual({ status: 200, body: '' })
})

test('a failure to gather is answered with an error, and the next request gathers anew', async () => {
  let isBroken = true
  const { port } = await serve(async () => {
    if (isBroken) throw new Error('broken')
    return snapshot
  })
  expect((await ask(port, '/metrics')).status).toBe(500)
  isBroken = false
  expect((await ask(port, '/metrics')).status).toBe(200)
})

test('concurrent requests share one gathering', async () => {
  let looks = 0
  const gate = deferred<void>()
  const { port } = await serve(async () => {
    looks++
    await gate.promise
    return snapshot
  })
  const answers = Array.from({ length: 10 }, () => ask(port, '/metrics'))
  await until('somebody to look', () => looks > 0)
  await new Promise((resolve) => request({ port, path: '/' }, resolve).end())
  gate.resolve()
  expect((await Promise.all(answers)).every(({ status }) => status === 200)).toBe(true)
  expect(looks).toBeLessThanOrEqual(2)
})

test('the number of idle connections is limited', async () => {
  const { port } = await serve()
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()))
  await until(
    'some to be turned away',
    () => sockets.filter(({ destroyed, closed }) => destroyed || closed).length >= 8,
  )
  sockets.forEach((socket) => void socket.destroy())
  await until('room for others', () =>
    ask(port, '/metrics').then(
      ({ status }) => status === 200,
      () => false,
    ),
  )
})

test('a port in use is named, and used once it is free', SLOW, async () => {
  const port = await freePort()
  const first = await serveMetrics({ host: '127.0.0.1', port, gather: async () => snapshot, log: quietLog })
  const told: string[] = []
  const log = { ...quietLog, error: (message: string) => void told.push(message) }
  const endpoint = openEndpoint(
    { metrics_interface: '127.0.0.1', metrics_port: port },
    log,
    async () => snapshot,
  )
  onTestFinished(() => endpoint.close())
  await until('the error', () => told.length > 0)
  expect(told[0]).toBe(
    `Metrics cannot be served at 127.0.0.1, port ${port}: another program listens there. Set another metrics_port.`,
  )
  await first.close()
  await until('the port to be taken', () =>
    ask(port, '/metrics').then(
      () => true,
      () => false,
    ),
  )
  expect(told).toHaveLength(1)
})
