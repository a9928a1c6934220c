/** HTTP requests to stores. They use Node's http and https, as `fetch` accepts no certificates besides the system's. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { p, UnsavableError } from 'salt-ts'
import { duration } from './_options.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

export const httpOptions = {
  /** Seconds until the response must be complete. */
  timeout: p.default(duration, 10),
  ...tlsOptions,
} as const

type HttpOptions = Parameters<typeof tlsFacts>[0] & { readonly timeout: number }

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

export interface HttpClient {
  /** Rejects if no response arrives. The caller checks its status. */
  send(asked: HttpRequest): Promise<HttpAnswer>
  close(): Promise<void>
}

/** Rejects if a file named in the options cannot be read. */
export async function httpClient(options: HttpOptions): Promise<HttpClient> {
  const tls = await tlsFacts({ ...options, ssl: true })
  const plain = new Agent({ keepAlive: true })
  const secure = new TlsAgent({ keepAlive: true, ...tls })

  const once = ({ method, url, headers, body }: HttpRequest) =>
    new Promise<HttpAnswer>((done, fail) => {
      const ask = url.protocol === 'https:' ? tlsRequest : request
      const agent = url.protocol === 'https:' ? secure : plain
      const signal = AbortSignal.timeout(options.timeout * 1000)
      const asked = ask(url, { method, headers: { ...headers }, agent, signal }, async (answer) => {
        try {
          const chunks: Buffer[] = []
          for await (const chunk of answer) chunks.push(chunk)
          const text = Buffer.concat(chunks).toString()
          done({ status: answer.statusCode ?? 0, headers: answer.headers, text })
        } catch (error) {
          fail(error)
        }
      })
      asked.on('error', (error) => fail(Object.assign(error, { wasReused: asked.reusedSocket })))
      asked.end(body)
    })

  return {
    async send(asked) {
      try {
        return await once(asked).catch((error) => {
          if (!isStale(error)) throw error
          return once(asked)
        })
      } catch (error) {
        throw new Error(`${asked.url.host}: ${whyNoAnswer(error, options.timeout)}`, { cause: error })
      }
    },
    async close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

/** Whether the request failed because the server had closed the kept-alive connection. */
const isStale = (error: { code?: unknown; wasReused?: boolean }): boolean =>
  error.wasReused === true && (error.code === 'ECONNRESET' || error.code === 'EPIPE')

function whyNoAnswer(error: unknown, timeout: number): string {
  const { name, message, code } = error as NodeJS.ErrnoException
  return name === 'AbortError' || name === 'TimeoutError'
    ? `no answer within ${timeout} seconds`
    : message || `${code}`
}

/** Status codes of requests that a server refuses however often they are sent. */
const NEVER = new Set([400, 413, 414, 415, 422])

/** Return the error for a response that refuses a request. */
export function refusal({ host }: URL, { status, text }: HttpAnswer): Error {
  const said = `${host} answered ${status}: ${text.trim().slice(0, 500)}`
  return NEVER.has(status) ? new UnsavableError(said) : new Error(said)
}

export const isSuccess = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

/** Parse a URL. The error does not show the text, which may have a password in it. */
export function httpUrl(option: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new Error(`${option} must be a URL that begins with http:// or https://`)
}
