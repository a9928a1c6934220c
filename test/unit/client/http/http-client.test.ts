/** `salt-ts/http` with a salt-api that the test plays, by a `fetch` of its own. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { HttpClient, HttpError, type HttpEvent, type HttpResult } from '../../../../core/client/http/index.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

const JID = '20261129080000000001'
const URL_OF_API = 'http://salt.example:8000/'

type Returns = Record<string, { return: unknown; retcode?: number }>

/** An event stream that the test writes. */
class Stream {
  readonly body: ReadableStream<Uint8Array>
  #controller!: ReadableStreamDefaultController<Uint8Array>

  constructor(signal: AbortSignal | null | undefined) {
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller
      },
    })
    signal?.addEventListener('abort', () => this.break(signal.reason))
  }

  #send(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text))
  }

  event(tag: string, data: object): void {
    this.#send(`tag: ${tag}\ndata: ${JSON.stringify({ tag, data })}\n\n`)
  }

  ret(id: string, value: unknown, more: object = {}): void {
    this.event(`salt/job/${JID}/ret/${id}`, { id, return: value, retcode: 0, ...more })
  }

  comment(text: string): void {
    this.#send(`: ${text}\n\n`)
  }

  /** As a server does that ends it by itself; with a reason, or without. */
  end(why?: string): void {
    if (why !== undefined) this.comment(why)
    this.#controller.close()
  }

  /** As when the server is killed. */
  break(error: unknown = new TypeError('terminated', { cause: new Error('other side closed') })): void {
    try {
      this.#controller.error(error)
    } catch {
      // It has ended.
    }
  }
}

interface Played {
  readonly streams: Stream[]
  /** Bodies of the requests that were posted. */
  readonly posted: Record<string, unknown>[][]
  minions: string[]
  /** What the job cache has. */
  stored: Returns
  /** How many times it was read. */
  looked: number
  /** How requests to a path are answered instead. */
  readonly instead: Map<string, (signal: AbortSignal | null | undefined) => Response | Promise<Response>>
  onPublish: () => void
}

let api: Played
let client: HttpClient

beforeEach(() => {
  api = {
    streams: [],
    posted: [],
    minions: ['web1', 'web2'],
    stored: {},
    looked: 0,
    instead: new Map(),
    onPublish: () => {},
  }
  client = new HttpClient({ url: URL_OF_API, token: 'ab', fetch: answer })
})
afterEach(() => {
  vi.useRealTimers()
})

const answer: typeof fetch = async (url, { signal, body } = {}) => {
  const [, path = ''] = /^\/([a-z]*)/.exec(new URL(String(url)).pathname) ?? []
  const other = api.instead.get(path)
  if (other) return other(signal)
  signal?.throwIfAborted()
  if (path === 'events') {
    const stream = new Stream(signal)
    api.streams.push(stream)
    return new Response(stream.body, { headers: { 'Content-Type': 'text/event-stream;charset=utf-8' } })
  }
  if (path === 'jobs') {
    api.looked++
    return Response.json({ info: [{ Result: api.stored }], return: [{}] })
  }
  api.posted.push(JSON.parse(String(body)))
  api.onPublish()
  return Response.json({ return: [{ jid: JID, minions: api.minions }] })
}

const refused = (status: number, sentence: string) => () =>
  Response.json({ status, return: sentence }, { status })
const unreached = async (): Promise<Response> => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:8000') })
}

/** A server that accepts the connection only. */
const silent = (signal: AbortSignal | null | undefined) =>
  new Promise<Response>((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))

/** Follow a job in the background. */
function follow(signal?: AbortSignal) {
  const results: HttpResult[] = []
  const over = (async () => {
    for await (const result of client.cmdIter({
      tgt: '*',
      fun: 'test.ping',
      ...(signal && { signal }),
    }))
      results.push(result)
  })()
  over.catch(() => {})
  return { results, over, ids: () => results.map(({ id }) => id) }
}

/** Follow a job whose first stream is open. */
async function followed(signal?: AbortSignal) {
  const run = follow(signal)
  await until('the job to be published', () => api.posted.length === 1)
  return { ...run, stream: api.streams[0] as Stream }
}

const nextStream = async (n: number): Promise<Stream> => {
  await until('another stream', () => api.streams.length > n)
  return api.streams[n] as Stream
}

describe('cmdIter', () => {
  test('has taken the body of the stream before it publishes, so that no collection of garbage cancels it', async () => {
    const locked: boolean[] = []
    api.onPublish = () => void locked.push(...api.streams.map(({ body }) => body.locked))
    const { stream, over } = await followed()
    expect(locked).toEqual([true])
    stream.ret('web1', true)
    stream.ret('web2', true)
    await over
  })

  test.each([
    ['the server stops', (stream: Stream) => stream.end('The server is stopping.')],
    ['the server is killed', (stream: Stream) => stream.break()],
    ['the stream ends without a reason', (stream: Stream) => stream.end()],
    [
      'the server has missed events',
      (stream: Stream) => stream.comment('Events were missed by this server: …'),
    ],
  ])('reads what it has missed, and goes on, when %s', SLOW, async (_, happens) => {
    const { stream, ids, over, results } = await followed()
    stream.ret('web1', 'first')
    await until('the first result', () => ids().length === 1)
    api.stored = { web1: { return: 'first' }, web2: { return: 'missed', retcode: 3 } }
    happens(stream)
    await over
    expect(results).toEqual([
      { id: 'web1', jid: JID, state: 'returned', return: 'first', retcode: 0 },
      { id: 'web2', jid: JID, state: 'failed', return: 'missed', retcode: 3 },
    ])
  })

  test('continues with the events of another stream', SLOW, async () => {
    const { stream, ids, over } = await followed()
    stream.end('The server is stopping.')
    const next = await nextStream(1)
    await until('the job cache to be read', () => api.looked === 1)
    next.ret('web2', true)
    next.ret('web1', true)
    await over
    expect(ids()).toEqual(['web2', 'web1'])
  })

  test('waits for a server that is away', SLOW, async () => {
    const { stream, ids, over } = await followed()
    const answers = [unreached, refused(503, 'The master does not answer.')]
    api.instead.set('events', () => {
      const next = answers.shift() ?? unreached
      if (answers.length === 0) api.instead.delete('events')
      return next()
    })
    api.stored = { web1: { return: 1 }, web2: { return: 2 } }
    stream.end('The server is stopping.')
    await over
    expect(ids()).toEqual(['web1', 'web2'])
  })

  test('reads the job cache again, since a restarted server does not know the owner of the job', async () => {
    vi.useFakeTimers()
    const run = follow()
    await vi.advanceTimersByTimeAsync(0)
    api.streams[0]?.end('The server is stopping.')
    await vi.advanceTimersByTimeAsync(1000)
    expect([api.looked, run.ids()]).toEqual([1, []])
    api.stored = { web1: { return: 1 }, web2: { return: 2 } }
    await vi.advanceTimersByTimeAsync(6000)
    expect([api.looked, run.ids()]).toEqual([2, ['web1', 'web2']])
    await run.over
  })

  test.each([
    ['nothing comes any more', () => {}],
    ['the job cache cannot be read at first', () => api.instead.set('jobs', refused(503, 'No master.'))],
    ['the job cache may not be read at first', () => api.instead.set('jobs', refused(403, 'Not permitted.'))],
  ])('looks at the job cache from time to time while the stream lasts: %s', async (_, happens) => {
    vi.useFakeTimers()
    const run = follow()
    await vi.advanceTimersByTimeAsync(0)
    api.streams[0]?.ret('web1', 'by an event')
    happens()
    await vi.advanceTimersByTimeAsync(605_000)
    expect(run.ids()).toEqual(['web1'])
    api.instead.clear()
    api.stored = { web1: { return: 'again' }, web2: { return: 'stored' } }
    await vi.advanceTimersByTimeAsync(600_000)
    expect(run.results.map((result) => 'return' in result && result.return)).toEqual([
      'by an event',
      'stored',
    ])
    await run.over
    expect(api.streams).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('rejects with the job and the minions that are missing when the token is revoked', SLOW, async () => {
    const { stream, ids, over } = await followed()
    stream.ret('web1', true)
    await until('the first result', () => ids().length === 1)
    api.instead.set('events', refused(401, 'There is no token.'))
    stream.end('The token has expired or was revoked.')
    const error = await over.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(HttpError)
    expect(error).toMatchObject({ code: 'STREAM_ENDED', status: 401, jid: JID, missing: ['web2'] })
    expect(String(error)).toBe(
      `HttpError: Job ${JID} was published, but can no longer be followed: no return is known of web2. The events of salt-api have ended. ` +
        'The token has expired or was revoked. There is no token. Look it up later by its id.',
    )
  })

  test.each([
    ['is away', unreached],
    ['does not answer', silent],
  ])('rejects when salt-api %s for a minute', async (_, happens) => {
    vi.useFakeTimers()
    const run = follow()
    await vi.advanceTimersByTimeAsync(0)
    api.instead.set('events', happens)
    api.streams[0]?.break()
    await vi.advanceTimersByTimeAsync(80_000)
    await expect(run.over).rejects.toMatchObject({
      code: 'STREAM_ENDED',
      jid: JID,
      missing: ['web1', 'web2'],
      message: expect.stringContaining('other side closed'),
    })
  })

  test('reads a value that was too large for its event from the job cache', async () => {
    const { stream, results, over } = await followed()
    api.stored = { web1: { return: 'whole' } }
    stream.ret('web1', 'VALUE_TRIMMED')
    stream.ret('web2', 'short')
    await over
    expect(results.map((result) => 'return' in result && result.return)).toEqual(['whole', 'short'])
  })

  test('ends with the reason of its signal, also between two streams', async () => {
    const ended = new AbortController()
    const { stream, over } = await followed(ended.signal)
    api.instead.set('events', unreached)
    stream.end()
    ended.abort(new Error('enough'))
    await expect(over).rejects.toThrow('enough')
    const other = new AbortController()
    const second = follow(other.signal)
    api.instead.clear()
    other.abort(new Error('at once'))
    await expect(second.over).rejects.toThrow('at once')
  })
})

describe('events', () => {
  const read = async (signal?: AbortSignal, onNotice?: (sentence: string) => void) => {
    const events: HttpEvent[] = []
    const over = (async () => {
      const options = onNotice ? { onNotice } : {}
      for await (const event of client.events('a*', signal, options)) events.push(event)
    })()
    over.catch(() => {})
    return { events, over, stream: await nextStream(0) }
  }

  test.each([
    [
      'stops',
      (stream: Stream) => stream.end('The server is stopping.'),
      'The events of salt-api have ended. The server is stopping.',
    ],
    [
      'drops a slow reader',
      (stream: Stream) => stream.end('This reader was dropped. It was too slow.'),
      'The events of salt-api have ended. This reader was dropped. It was too slow.',
    ],
    [
      'is killed',
      (stream: Stream) => stream.break(),
      'The events of salt-api have ended. The connection was lost: other side closed.',
    ],
    [
      'says nothing',
      (stream: Stream) => stream.end(),
      'The events of salt-api have ended. The server gave no reason.',
    ],
  ])('rejects with the reason when the server %s', async (_, happens, sentence) => {
    const { events, over, stream } = await read()
    stream.event('a/1', { n: 1 })
    await until('the event', () => events.length === 1)
    happens(stream)
    await expect(over).rejects.toMatchObject({ name: 'HttpError', code: 'STREAM_ENDED', message: sentence })
    expect(events).toEqual([{ tag: 'a/1', data: { n: 1 } }])
  })

  test('ends quietly on its signal, as LocalClient does', async () => {
    const ended = new AbortController()
    const { over } = await read(ended.signal)
    ended.abort(new Error('enough'))
    await over
  })

  test('reports what the server has missed, and continues', async () => {
    const notices: string[] = []
    const ended = new AbortController()
    const { events, over, stream } = await read(ended.signal, (sentence) => notices.push(sentence))
    stream.comment('3 events were missed by this server: …')
    stream.event('a/1', {})
    await until('the event', () => events.length === 1)
    expect(notices).toEqual(['3 events were missed by this server: …'])
    ended.abort()
    await over
  })
})

describe('a request', () => {
  test("is sent with Salt's names", async () => {
    await client.cmdAsync({
      tgt: ['web1'],
      tgtType: 'list',
      fun: 'test.ping',
      timeout: 3,
      deliverWithin: 60,
      check: false,
      metadata: { a: 1 },
      signal: new AbortController().signal,
    })
    expect(api.posted).toEqual([
      [
        {
          client: 'local_async',
          tgt: ['web1'],
          tgt_type: 'list',
          fun: 'test.ping',
          timeout: 3,
          deliver_within: 60,
          check: false,
          metadata: { a: 1 },
        },
      ],
    ])
  })

  test.each([
    ['tgt_type', "A job takes no 'tgt_type'. Did you mean 'tgtType'?"],
    ['timeot', "A job takes no 'timeot'. Did you mean 'timeout'?"],
    [
      'something',
      "A job takes no 'something'. It takes tgt, tgtType, fun, arg, kwarg, timeout, deliverWithin, check, metadata, signal.",
    ],
  ])('with an unknown member is refused, not sent: %s', async (name, message) => {
    const request = { tgt: '*', fun: 'test.ping', [name]: 'list' } as const
    const refusal = { name: 'HttpError', code: 'INVOCATION', message }
    await expect(client.cmd(request)).rejects.toMatchObject(refusal)
    await expect(client.cmdAsync(request)).rejects.toMatchObject(refusal)
    await expect(client.cmdIter(request).next()).rejects.toMatchObject(refusal)
    expect(api.posted).toEqual([])
  })
})

describe('run', () => {
  const ending = (data: object) =>
    api.instead.set('', () =>
      Response.json({ return: [{ tag: `salt/run/${JID}/ret`, data: { jid: JID, ...data } }] }),
    )

  test('resolves with what the runner returns', async () => {
    ending({ return: ['web1'], success: true })
    expect(await client.run('manage.up')).toEqual(['web1'])
  })

  test.each([
    ['There is no job 1', 'There is no job 1.'],
    [{ 'Not cancelled': { web1: 'gone' } }, 'jobs.cancel failed with exit code 1.'],
  ])('rejects if the runner fails, with what it has returned: %#', async (returned, message) => {
    ending({ return: returned, success: false, retcode: 1 })
    await expect(client.run('jobs.cancel', { jid: '1' })).rejects.toMatchObject({
      name: 'HttpError',
      code: 'RUN_FAILED',
      status: 200,
      jid: JID,
      returned,
      message,
    })
  })
})

describe('errors', () => {
  test('a server that cannot be reached is named, with the reason and what to do', async () => {
    api.instead.set('', unreached)
    api.instead.set('events', unreached)
    const sentence =
      'salt-api at http://salt.example:8000/ cannot be reached: connect ECONNREFUSED 127.0.0.1:8000. ' +
      'Check the url of the client, and that salt-api runs and its certificate is trusted.'
    for (const call of [client.run('manage.up'), client.events().next()])
      await expect(call).rejects.toMatchObject({
        name: 'HttpError',
        code: 'UNREACHABLE',
        status: undefined,
        message: sentence,
      })
  })

  test('an answer that is not from salt-api, or breaks off, is an error', async () => {
    api.instead.set('', () => new Response('<html>'))
    await expect(client.run('manage.up')).rejects.toMatchObject({ code: 'UNREACHABLE' })
    api.instead.set('', () => new Response('<html>', { status: 502 }))
    await expect(client.run('manage.up')).rejects.toMatchObject({
      code: 'REFUSED',
      status: 502,
      message: 'salt-api answered with status 502.',
    })
  })

  const calls: [string, () => Promise<unknown>][] = [
    ['cmd', () => client.cmd({ tgt: '*', fun: 'test.ping' })],
    ['cmdAsync', () => client.cmdAsync({ tgt: '*', fun: 'test.ping' })],
    ['cmdIter', () => client.cmdIter({ tgt: '*', fun: 'test.ping' }).next()],
    ['run', () => client.run('manage.up')],
    ['login', () => client.login({ eauth: 'pam', username: 'ada', password: 'x' })],
    ['events', () => client.events().next()],
  ]

  test.each(calls)('%s is not sent on where a server redirects to', async (_, call) => {
    const asked: unknown[] = []
    client = new HttpClient({
      url: URL_OF_API,
      async fetch(url, { redirect } = {}) {
        asked.push([new URL(String(url)).host, redirect])
        const headers = { Location: 'https://salt.example/' }
        return new Response('', { status: 301, headers })
      },
    })
    await expect(call()).rejects.toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining(
        'salt-api at http://salt.example:8000/ redirects to https://salt.example/.',
      ),
    })
    expect(asked).toEqual([['salt.example:8000', 'manual']])
  })

  test.each(calls)('what answers %s as another server would is no result', async (_, call) => {
    for (const body of [
      'null',
      '[]',
      '"x"',
      '{"status":"ok"}',
      '{"return":"Welcome"}',
      '{"return":[null]}',
    ]) {
      const other = () => new Response(body, { headers: { 'Content-Type': 'application/json' } })
      for (const path of ['', 'login', 'events']) api.instead.set(path, other)
      await expect(call()).rejects.toMatchObject({ name: 'HttpError', code: 'UNREACHABLE' })
    }
  })

  test('a url with a password is refused, and not shown in errors', () => {
    expect(() => new HttpClient({ url: 'https://ada:secret@salt.example' })).toThrow(
      new HttpError('INVOCATION', 'The url has a user name or a password in it. Give them to login().'),
    )
  })

  test('a call that is aborted rejects with the reason of its signal', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(client.cmd({ tgt: '*', fun: 'test.ping', signal })).rejects.toThrow('enough')
  })
})
