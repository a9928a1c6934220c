/** A client of salt-api for browsers and other programs. It uses `fetch` and nothing of Node. */
import type { JobArguments, JobFunctions, JobReturn } from '../../author/calls.ts'
import type { JobTarget } from '../../author/context.ts'
import { closest } from '../../base/closest.ts'
import { isRecord } from '../../base/record.ts'
import { sentence } from '../../base/sentence.ts'
import { type EventMessages, eventsIn, type HttpEvent } from './event-stream.ts'
import { followHttpJob } from './follow-http-job.ts'
import { HttpError, problemOf, unreachable } from './http-error.ts'
import { type HttpJob, type HttpResult, type HttpReturn, type Item, resultOf } from './http-job.ts'

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

/** Every member of a request, and what it is in Salt's words; undefined for what stays here. */
const REQUEST: Readonly<Record<keyof AnyRequest, string | undefined>> = {
  tgt: 'tgt',
  tgtType: 'tgt_type',
  fun: 'fun',
  arg: 'arg',
  kwarg: 'kwarg',
  timeout: 'timeout',
  deliverWithin: 'deliver_within',
  check: 'check',
  metadata: 'metadata',
  signal: undefined,
}

export interface HttpEventOptions {
  /** Called with what the server says beside events: that it has missed some, or why it ends them. */
  readonly onNotice?: (sentence: string) => void
}

/**
 * Publishes jobs, runs runners and listens to events through salt-api. What fails rejects with {@link HttpError}; what is ended by its
 * `signal` rejects with the reason of that, but for {@link events}.
 */
export class HttpClient {
  readonly #url: URL
  readonly #fetch: typeof fetch
  #token: string | undefined

  constructor({ url, token, fetch: own }: HttpClientSettings) {
    this.#url = new URL(url)
    if (this.#url.username || this.#url.password)
      throw new HttpError('INVOCATION', 'The url has a user name or a password in it. Give them to login().')
    if (!this.#url.pathname.endsWith('/')) this.#url.pathname += '/'
    this.#token = token
    this.#fetch = own ?? ((...given) => fetch(...given))
  }

  /** Log in, and use the token in later requests. Resolves with it, and with what its owner may do. */
  async login(credentials: HttpCredentials): Promise<{ token: string; expire: number; perms: unknown }> {
    const session = (await this.#send('login', credentials)) as {
      token: string
      expire: number
      perms: unknown
    }
    this.#token = session.token
    return session
  }

  /** Revoke the token, on all servers. */
  async logout(): Promise<void> {
    await this.#post('logout', {})
    this.#token = undefined
  }

  /** Publish, and wait for all minions. Resolves with the results by minion id; empty if the target matches none. */
  cmd<const F extends JobFunctions>(
    request: HttpRequest<F>,
  ): Promise<Record<string, HttpResult<JobReturn<F>>>>
  async cmd(request: AnyRequest): Promise<Record<string, HttpResult>> {
    const chunk = { ...chunkOf(request), client: 'local', full_return: true }
    const returns = (await this.#send('', [chunk], request.signal)) as Record<string, Item>
    return Object.fromEntries(Object.entries(returns).map(([id, item]) => [id, resultOf(id, item)]))
  }

  /** Publish without waiting for results. Undefined if the target matches no minion. */
  cmdAsync<const F extends JobFunctions>(request: HttpRequest<F>): Promise<HttpJob | undefined>
  cmdAsync(request: AnyRequest): Promise<HttpJob | undefined> {
    return this.#publish(request)
  }

  async #publish(request: AnyRequest): Promise<HttpJob | undefined> {
    const chunk = { ...chunkOf(request), client: 'local_async' }
    const job: Partial<HttpJob> = await this.#send('', [chunk], request.signal)
    return job.jid === undefined ? undefined : { jid: job.jid, minions: job.minions ?? [] }
  }

  /**
   * Publish, and yield each result when its minion returns. Listens before it publishes, and reads what it has missed from the job
   * cache when the connection was lost, so that no return is missed. It ends when all have returned; `signal` ends it earlier. Rejects
   * with STREAM_ENDED if the job cannot be followed any more. Minions that do not return are for {@link cmd}, which knows why.
   */
  cmdIter<const F extends JobFunctions>(request: HttpRequest<F>): AsyncGenerator<HttpResult<JobReturn<F>>>
  async *cmdIter(request: AnyRequest): AsyncGenerator<HttpResult> {
    const listening = new AbortController()
    const signal = AbortSignal.any([listening.signal, ...(request.signal ? [request.signal] : [])])
    const open = (until: AbortSignal) => this.#open('salt/job/*/ret/*', until)
    try {
      const events = await open(signal)
      const job = await this.#publish(request)
      if (!job || job.minions.length === 0) return
      yield* followHttpJob({ job, events, open, stored: () => this.#stored(job.jid, signal), signal })
    } finally {
      listening.abort()
    }
  }

  /** Run a function of the master: a runner. Resolves with its result; rejects with RUN_FAILED if it fails. */
  async run(fun: string, kwarg: Fields = {}, arg: readonly unknown[] = []): Promise<unknown> {
    const chunk = { client: 'runner', fun, arg, kwarg, full_return: true }
    const { data } = await this.#send('', [chunk])
    if (!isRecord(data)) throw this.#notSaltApi()
    if (data.success === false) throw runFailed(fun, data)
    return data.return
  }

  /**
   * Yield the events whose tags match a shell pattern (default: all), until `signal` aborts. Rejects with STREAM_ENDED and the reason of
   * the server when the server ends them, since those that come until they are read again are missed.
   */
  async *events(
    tag?: string,
    signal?: AbortSignal,
    { onNotice }: HttpEventOptions = {},
  ): AsyncGenerator<HttpEvent> {
    try {
      for await (const message of await this.#open(tag, signal)) {
        if ('notice' in message) onNotice?.(message.notice)
        else yield message
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  }

  /** Return what the minions of a job have returned, from the job cache. */
  async #stored(jid: string, signal: AbortSignal): Promise<Readonly<Record<string, HttpReturn>>> {
    const { info } = (await this.#ask(`jobs/${jid}`, { headers: JSON_ANSWER, signal })) as {
      readonly info: readonly [{ readonly Result: Readonly<Record<string, HttpReturn>> }]
    }
    return info[0].Result
  }

  async #open(tag: string | undefined, signal: AbortSignal | undefined): Promise<EventMessages> {
    const query = tag === undefined ? '' : `?tag=${encodeURIComponent(tag)}`
    const response = await this.#request(`events${query}`, {
      headers: { Accept: 'text/event-stream' },
      signal,
    })
    const { body } = response
    if (body && isEvents(response)) return eventsIn(body, signal)
    await body?.cancel()
    throw this.#notSaltApi()
  }

  /** Post what is answered with a list, and return its first item. */
  async #send(path: string, body: unknown, signal?: AbortSignal): Promise<Fields> {
    const answer = await this.#post(path, body, signal)
    const [first] = isRecord(answer) && Array.isArray(answer.return) ? (answer.return as unknown[]) : []
    if (!isRecord(first)) throw this.#notSaltApi()
    return first
  }

  #post(path: string, body: unknown, signal?: AbortSignal): Promise<unknown> {
    const headers = { ...JSON_ANSWER, 'Content-Type': 'application/json' }
    return this.#ask(path, { method: 'POST', headers, body: JSON.stringify(body), signal })
  }

  #notSaltApi(): HttpError {
    return unreachable(this.#url, 'has not answered as salt-api does')
  }

  async #ask(path: string, init: Init): Promise<unknown> {
    const response = await this.#request(path, init)
    try {
      return await response.json()
    } catch (error) {
      init.signal?.throwIfAborted()
      throw unreachable(this.#url, `has sent no whole answer in JSON: ${problemOf(error)}`, error)
    }
  }

  async #request(path: string, { headers, signal, ...init }: Init): Promise<Response> {
    const response = await this.#fetch(new URL(path, this.#url), {
      ...init,
      redirect: 'manual',
      headers: { ...headers, ...(this.#token !== undefined && { 'X-Auth-Token': this.#token }) },
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw unreachable(this.#url, `cannot be reached: ${problemOf(error)}`, error)
    })
    if (response.ok) return response
    const { status } = response
    if (isRedirect(response)) {
      await response.body?.cancel()
      throw unreachable(this.#url, `redirects to ${response.headers.get('Location') ?? 'another address'}`)
    }
    const said = sentenceIn(await response.text().catch(() => ''))
    throw new HttpError('REFUSED', said ?? `salt-api answered with status ${status}.`, { status })
  }
}

interface Init {
  readonly method?: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly signal?: AbortSignal | undefined
}

const isEvents = ({ headers }: Response): boolean =>
  headers.get('Content-Type')?.startsWith('text/event-stream') ?? false

/** Whether a request is sent elsewhere. `fetch` would follow with GET, which runs nothing, and give others the token. */
const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || (status >= 300 && status < 400)

const JSON_ANSWER = { Accept: 'application/json' }

/** Return a job in Salt's words. */
function chunkOf(request: AnyRequest): Fields {
  return Object.fromEntries(
    Object.entries(request).flatMap(([name, value]) => {
      const word = wordFor(name)
      return word === undefined ? [] : [[word, value]]
    }),
  )
}

/** Return Salt's word for a member of a request. Refuses unknown ones: without it, this would be another job. */
function wordFor(name: string): string | undefined {
  if (Object.hasOwn(REQUEST, name)) return REQUEST[name as keyof AnyRequest]
  const known = Object.keys(REQUEST)
  const nearest = closest(name.replaceAll('_', ''), known)
  const advice = nearest === undefined ? `It takes ${known.join(', ')}.` : `Did you mean '${nearest}'?`
  throw new HttpError('INVOCATION', `A job takes no '${name}'. ${advice}`)
}

function runFailed(fun: string, { jid, return: returned, retcode = 1 }: Fields): HttpError {
  const said = typeof returned === 'string' ? sentence(returned) : `${fun} failed with exit code ${retcode}.`
  return new HttpError('RUN_FAILED', said, { status: 200, jid: String(jid), returned })
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
