/** A client of salt-api for browsers and other programs. It uses `fetch` and nothing of Node. */
import type { JobArguments, JobFunctions, JobReturn } from '../../author/calls.ts'
import type { JobTarget } from '../../author/context.ts'
import { chunksOf, serverSentData } from './server-sent-events.ts'

type Fields = Readonly<Record<string, unknown>>

export interface HttpClientSettings {
  /** The address of salt-api: `https://master:8000`. */
  readonly url: string | URL
  /** A token of the master, from `login` or `salt -T`. */
  readonly token?: string | undefined
  /** Default: the global one. */
  readonly fetch?: typeof fetch
}

export interface HttpCredentials {
  /** A backend of `external_auth`: `pam`, `ldap`, …. */
  readonly eauth: string
  readonly username?: string
  readonly password?: string
  /** What else the backend takes: `sharedsecret`, `id_token`. */
  readonly [name: string]: string | undefined
}

/** A job. `F` are its functions: names that TypeScript knows, with which it checks the arguments, or those of `untyped`. */
export type HttpRequest<F extends JobFunctions> = HttpJobSettings & { readonly fun: F } & JobArguments<F>

/** A job of whatever functions. */
interface AnyRequest extends HttpJobSettings {
  readonly fun: string | readonly string[]
  readonly arg?: readonly unknown[]
  readonly kwarg?: Fields | undefined
}

interface HttpJobSettings extends JobTarget {
  /** Seconds after which the master asks minions that have not returned whether they still run the job. */
  readonly timeout?: number
  /** Seconds in which minions that are away still get the job. */
  readonly deliverWithin?: number
  /** False: publish it even if no minion would run it. */
  readonly check?: boolean
  readonly metadata?: Fields
  /** Ends the waiting, not the job. */
  readonly signal?: AbortSignal
}

/** The outcome of a job on one minion. `R` is the type of what its function returns. */
export type HttpResult<R = unknown> = { readonly id: string; readonly jid: string } & (
  | { readonly state: 'returned'; readonly return: R; readonly retcode: 0 }
  /** The exit code is not 0. The return is mostly the text of an error. */
  | { readonly state: 'failed'; readonly return: unknown; readonly retcode: number }
  /** `reason` is a sentence. */
  | { readonly state: 'missing'; readonly reason: string }
)

export interface HttpJob {
  readonly jid: string
  /** Minions that are expected to return. */
  readonly minions: readonly string[]
}

export interface HttpEvent {
  readonly tag: string
  readonly data: Fields
}

/** An answer of salt-api that is no success. The message is the sentence of the server. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Publishes jobs, runs runners and listens to events through salt-api. Every method rejects with {@link HttpError}. */
export class HttpClient {
  readonly #url: URL
  readonly #fetch: typeof fetch
  #token: string | undefined

  constructor({ url, token, fetch: own }: HttpClientSettings) {
    this.#url = new URL(url)
    if (!this.#url.pathname.endsWith('/')) this.#url.pathname += '/'
    this.#token = token
    this.#fetch = own ?? ((...given) => fetch(...given))
  }

  /** Log in, and use the token in later requests. Resolves with it, and with what its owner may do. */
  async login(credentials: HttpCredentials): Promise<{ token: string; expire: number; perms: unknown }> {
    const [session] = (await this.#send('login', credentials)) as [
      { token: string; expire: number; perms: unknown },
    ]
    this.#token = session.token
    return session
  }

  /** Revoke the token, on all servers. */
  async logout(): Promise<void> {
    await this.#send('logout', {})
    this.#token = undefined
  }

  /** Publish, and wait for all minions. Resolves with the results by minion id; empty if the target matches none. */
  cmd<const F extends JobFunctions>(
    request: HttpRequest<F>,
  ): Promise<Record<string, HttpResult<JobReturn<F>>>>
  async cmd(request: AnyRequest): Promise<Record<string, HttpResult>> {
    const chunk = { ...chunkOf(request), client: 'local', full_return: true }
    const [returns = {}] = (await this.#send('', [chunk], request.signal)) as Record<string, Item>[]
    return Object.fromEntries(Object.entries(returns).map(([id, item]) => [id, resultOf(id, item)]))
  }

  /** Publish without waiting for results. Undefined if the target matches no minion. */
  cmdAsync<const F extends JobFunctions>(request: HttpRequest<F>): Promise<HttpJob | undefined>
  cmdAsync(request: AnyRequest): Promise<HttpJob | undefined> {
    return this.#publish(request)
  }

  async #publish(request: AnyRequest): Promise<HttpJob | undefined> {
    const chunk = { ...chunkOf(request), client: 'local_async' }
    const [job] = (await this.#send('', [chunk], request.signal)) as [Partial<HttpJob>]
    return job.jid === undefined ? undefined : { jid: job.jid, minions: job.minions ?? [] }
  }

  /**
   * Publish, and yield each result when its minion returns. Listens before it publishes, so that no return is missed. It ends when
   * all have returned; `signal` ends it earlier. Minions that do not return are for {@link cmd}, which knows why.
   */
  cmdIter<const F extends JobFunctions>(request: HttpRequest<F>): AsyncGenerator<HttpResult<JobReturn<F>>>
  async *cmdIter(request: AnyRequest): AsyncGenerator<HttpResult> {
    const listening = new AbortController()
    const signals = [listening.signal, ...(request.signal ? [request.signal] : [])]
    const events = await this.#open('salt/job/*/ret/*', AbortSignal.any(signals))
    try {
      const job = await this.#publish(request)
      const awaited = new Set(job?.minions)
      if (!job || awaited.size === 0) return
      for await (const { tag, data } of events) {
        const [, , jid, , id = ''] = tag.split('/')
        if (jid !== job.jid || !awaited.delete(id)) continue
        const ret = isTrimmed(data.return) ? await this.#stored(jid, id) : data.return
        yield resultOf(id, { ret, retcode: retcodeIn(data), jid })
        if (awaited.size === 0) return
      }
    } finally {
      listening.abort()
    }
  }

  /** Run a function of the master: a runner. Resolves with its result. */
  async run(fun: string, kwarg: Fields = {}, arg: readonly unknown[] = []): Promise<unknown> {
    const [result] = (await this.#send('', [{ client: 'runner', fun, arg, kwarg }])) as unknown[]
    return result
  }

  /** Yield the events whose tags match a shell pattern (default: all), until `signal` aborts or the server ends. */
  async *events(tag?: string, signal?: AbortSignal): AsyncGenerator<HttpEvent> {
    yield* await this.#open(tag, signal)
  }

  /** Return what a minion has returned, from the job cache. */
  async #stored(jid: string, id: string): Promise<unknown> {
    const response = await this.#request(`jobs/${jid}`, { headers: { Accept: 'application/json' } })
    const { return: returns } = (await response.json()) as { return: [Fields] }
    return returns[0][id]
  }

  async #open(tag: string | undefined, signal: AbortSignal | undefined): Promise<AsyncGenerator<HttpEvent>> {
    const query = tag === undefined ? '' : `?tag=${encodeURIComponent(tag)}`
    const response = await this.#request(`events${query}`, {
      headers: { Accept: 'text/event-stream' },
      signal,
    })
    if (!response.body) throw new HttpError(response.status, 'The server sent no events.')
    return eventsIn(response.body)
  }

  async #send(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' }
    const response = await this.#request(path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal,
    })
    return ((await response.json()) as { return: unknown }).return
  }

  async #request(
    path: string,
    {
      headers,
      signal,
      ...init
    }: { method?: string; headers: Record<string, string>; body?: string; signal?: AbortSignal | undefined },
  ): Promise<Response> {
    const response = await this.#fetch(new URL(path, this.#url), {
      ...init,
      headers: { ...headers, ...(this.#token !== undefined && { 'X-Auth-Token': this.#token }) },
      ...(signal && { signal }),
    })
    if (response.ok) return response
    const text = await response.text()
    throw new HttpError(
      response.status,
      sentenceIn(text) ?? `salt-api answered with status ${response.status}.`,
    )
  }
}

/** A result of a minion, as salt-api gives it with `full_return`. */
interface Item {
  readonly ret: unknown
  readonly retcode: number
  readonly jid: string
  readonly failed?: boolean
}

function resultOf(id: string, { ret, retcode, jid, failed }: Item): HttpResult {
  if (failed) return { id, jid, state: 'missing', reason: String(ret) }
  if (retcode === 0) return { id, jid, state: 'returned', return: ret, retcode }
  return { id, jid, state: 'failed', return: ret, retcode }
}

/** Return a job in Salt's words. */
const chunkOf = ({ signal, tgtType, deliverWithin, ...others }: AnyRequest): Fields => ({
  ...others,
  tgt_type: tgtType,
  deliver_within: deliverWithin,
})

/** Whether a value was too large for its event (`max_event_size`). */
const isTrimmed = (value: unknown): boolean => JSON.stringify(value ?? null).includes('"VALUE_TRIMMED"')

/** Return the exit code of a return: of several functions the largest one. */
function retcodeIn({ retcode = 0 }: Fields): number {
  return typeof retcode === 'object'
    ? Math.max(0, ...Object.values(retcode ?? {}).map(Number))
    : Number(retcode)
}

async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<HttpEvent> {
  for await (const text of serverSentData(chunksOf(body))) yield JSON.parse(text) as HttpEvent
}

/** Return the sentence of an answer of salt-api. */
function sentenceIn(text: string): string | undefined {
  try {
    const { return: sentence } = JSON.parse(text) as { return?: unknown }
    return typeof sentence === 'string' ? sentence : undefined
  } catch {
    return undefined
  }
}
