/** Requests that wait for events: which minions they wait for, how long, and what remains when they end early. */
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { tags } from '../../../core/events/index.ts'
import { SLOW } from '../../harness/slow.ts'
import { openTestApi, type TestApi } from '../../harness/test-api.ts'
import { eventually } from '../../harness/until.ts'

const JID = '20261122010203000004'
const CHUNKS = {
  local: { client: 'local', tgt: '*', fun: 'test.sleep', timeout: 60 },
  runner: { client: 'runner', fun: 'test.sleep' },
  local_subset: { client: 'local_subset', tgt: '*', fun: 'test.sleep', timeout: 60 },
}

let api: TestApi

beforeEach(async () => {
  api = await openTestApi()
  api.answer = ({ cmd }) =>
    cmd === 'publish'
      ? { load: { jid: JID, minions: ['m1'], missing: [] } }
      : { tag: tags.run(JID), jid: JID }
  await api.app.listen({ host: '127.0.0.1', port: 0 })
})
afterEach(() => api.close())

function send(chunk: object): ClientRequest {
  const { port } = api.app.server.address() as AddressInfo
  const headers = { 'x-auth-token': 'ab12', 'content-type': 'application/json' }
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/', headers })
  request.on('error', () => undefined)
  request.end(JSON.stringify([chunk]))
  return request
}

describe.each(Object.entries(CHUNKS))('a request that waits for %s', (_, chunk) => {
  test('stops waiting when its client disconnects, and leaves the job running', SLOW, async () => {
    const request = send(chunk)
    await eventually(() => expect(api.waits()).toBe(1))
    await eventually(() => expect(api.asked).toHaveLength(1))
    request.destroy()
    await eventually(() => expect(api.waits()).toBe(0))
    expect(api.asked).toHaveLength(1)
  })

  test('is answered when the server stops', async () => {
    const request = send(chunk)
    await eventually(() => expect(api.asked).toHaveLength(1))
    api.stop()
    const [response] = await once(request, 'response')
    const [body] = await once(response, 'data')
    expect(response.statusCode).toBe(503)
    expect(JSON.parse(String(body)).return).toMatch(/^salt-api is stopping\./)
    await eventually(() => expect(api.waits()).toBe(0))
  })
})

test('a request that comes while the server stops is refused', async () => {
  api.stop()
  const [response] = await once(send(CHUNKS.local), 'response')
  expect(response.statusCode).toBe(503)
  expect(api.asked).toEqual([])
})

test('a batch runs to its end although the client that started it has disconnected', SLOW, async () => {
  const waves: unknown[] = []
  api.answer = ({ cmd, tgt, fun, jid }) => {
    if (cmd !== 'publish') return { error: { name: 'x', message: 'no plans' } }
    const minions = fun === 'test.ping' ? ['m1', 'm2'] : tgt
    if (fun === 'cmd.run') waves.push(tgt)
    const tell = () => {
      for (const id of minions as string[])
        api.fire(tags.jobReturn(String(jid), id), { id, jid, fun, return: true, retcode: 0, success: true })
    }
    setTimeout(tell, fun === 'test.ping' ? 0 : 100)
    return { load: { jid, minions, missing: [] } }
  }
  const request = send({ client: 'local_batch', tgt: '*', fun: 'cmd.run', batch: 1 })
  await eventually(() => expect(waves).toEqual([['m1']]))
  request.destroy()
  await eventually(() => expect(waves).toEqual([['m1'], ['m2']]))
  await eventually(() => expect(api.waits()).toBe(0))
})

test('a batch returns a map for each minion', async () => {
  api.answer = ({ cmd, tgt, fun, jid }) => {
    if (cmd !== 'publish') return { error: { name: 'x', message: 'no plans' } }
    const minions = fun === 'test.ping' && tgt === '*' ? ['m1', 'm2'] : (tgt as string[])
    for (const id of minions)
      api.fire(tags.jobReturn(String(jid), id), { id, jid, fun, return: true, retcode: 0, success: true })
    return { load: { jid, minions, missing: [] } }
  }
  const [response] = await once(
    send({ client: 'local_batch', tgt: '*', fun: 'cmd.run', batch: '1' }),
    'response',
  )
  const [body] = await once(response, 'data')
  expect(JSON.parse(String(body))).toEqual({ return: [{ m1: true }, { m2: true }] })
})
