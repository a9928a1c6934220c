import { afterEach, describe, expect, test } from 'vitest'
import * as http from '../../../modules/http.ts'
import { type Asked, type HttpServer, httpServer, type Told } from '../../harness/http-server.ts'
import { call, fakeContext } from './context.ts'

let server: HttpServer | undefined
afterEach(() => server?.close())

async function serve(answer: (asked: Asked) => Told | undefined): Promise<string> {
  server = await httpServer(answer)
  return server.url
}

describe('http.query', () => {
  test('sends what is given, and returns what is asked for', async () => {
    const url = await serve(({ method, query, headers, body }) => ({
      text: JSON.stringify({ method, a: query.get('a'), login: headers.authorization, body }),
      headers: { 'x-own': 'yes' },
    }))
    const given = { url, method: 'POST', params: { a: 1 }, data: { b: 2 }, username: 'me', password: 'pw' }
    expect(
      await call(http.query, { ...given, decode: true, status: true, headers: true, text: false }),
    ).toEqual({
      dict: { method: 'POST', a: '1', login: 'Basic bWU6cHc=', body: '{"b": 2}' },
      status: 200,
      headers: expect.objectContaining({ 'x-own': 'yes' }),
    })
  })

  test('reports a failure of the server, or that none answers', async () => {
    const url = await serve(() => ({ status: 503, text: 'busy' }))
    expect(await call(http.query, { url })).toEqual({ body: 'busy', error: 'HTTP 503: Service Unavailable' })
    await server?.close()
    expect(await call(http.query, { url })).toEqual({ error: expect.stringContaining('did not answer') })
    await expect(call(http.query, { url: 'ftp://x' })).rejects.toThrow("'ftp://x' is not a URL")
  })
})

describe('http.wait_for_successful_query', () => {
  const soon = { request_interval: 0.01 }

  test('asks until the server is well', async () => {
    let asked = 0
    const url = await serve(() => ({ status: ++asked < 3 ? 503 : 200, text: String(asked) }))
    expect(await call(http.wait_for_successful_query, { url, ...soon })).toEqual({ body: '3' })
  })

  test('returns the last answer when the time is over, or that there is none', async () => {
    const url = await serve(() => ({ status: 500 }))
    const given = { url, wait_for: 0, ...soon }
    expect(await call(http.wait_for_successful_query, given)).toMatchObject({
      error: 'HTTP 500: Internal Server Error',
    })
    await server?.close()
    expect(await call(http.wait_for_successful_query, given)).toEqual({
      error: expect.stringContaining('did not answer'),
    })
  })

  test('ends with its job', async () => {
    const stop = new AbortController()
    const url = await serve(() => {
      stop.abort()
      return { status: 500 }
    })
    await expect(
      call(http.wait_for_successful_query, { url, ...soon }, fakeContext({ signal: stop.signal })),
    ).rejects.toThrow('aborted')
  })
})
