/** Connections to etcd through the JSON gateway of its v3 API, in which keys and values are bytes in base64. */
import http from 'node:http'
import https from 'node:https'
import { text as textOf } from 'node:stream/consumers'
import { type Args, p, UnsavableError } from 'salt-ts'
import { duration, portNumber } from './_options.ts'
import { storeCall } from './_store-call.ts'
import { tlsFacts, tlsOptions } from './_tls.ts'

export const connectionOptions = {
  host: p.default(p.string(), '127.0.0.1'),
  port: p.default(portNumber, 2379),
  username: p.optional(p.string()),
  password: p.optional(p.secret(p.string())),
  ...tlsOptions,
  timeout: p.default(duration, 5),
} as const

type Options = Args<typeof connectionOptions>
type Fields = Readonly<Record<string, unknown>>

export interface Connection {
  /** Post to `path` (`kv/range`, `kv/txn`, …) and resolve with the response. */
  ask(path: string, body: Fields): Promise<Fields>
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly body: Fields
}

/** Connect to etcd. A user's token is requested when it is first needed, and again when it has expired. */
export async function connectEtcd(options: Options): Promise<Connection> {
  const { host, port, username: name, password, timeout } = options
  const tls = await tlsFacts(options)
  const agent = tls
    ? new https.Agent({ keepAlive: true, maxSockets: 4, ...tls })
    : new http.Agent({ keepAlive: true, maxSockets: 4 })
  const place = { place: `etcd at ${host}:${port}`, timeout }
  let token: string | undefined

  const post = (path: string, body: Fields) =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', ...(token && { authorization: token }) }
      const signal = AbortSignal.timeout(timeout * 1000)
      const request = (tls ? https : http).request(
        { host, port, agent, path: `/v3/${path}`, method: 'POST', headers, signal },
        (response) => {
          textOf(response)
            .then((text) => resolve({ status: response.statusCode ?? 0, body: fieldsOf(text) }))
            .catch(reject)
        },
      )
      request.on('error', reject)
      request.end(JSON.stringify(body))
    })
  const signIn = async () => {
    token = undefined
    const { status, body } = await post('auth/authenticate', { name, password })
    if (status !== 200) throw new Error(messageOf(body, status))
    token = String(body.token)
  }
  return {
    ask: (path, body) =>
      storeCall(place, async () => {
        if (name !== undefined && token === undefined) await signIn()
        let answer = await post(path, body)
        if (answer.status === 401 && name !== undefined) {
          await signIn()
          answer = await post(path, body)
        }
        if (answer.status === 200) return answer.body
        const message = messageOf(answer.body, answer.status)
        throw /too large|larger than max/.test(message) ? new UnsavableError(message) : new Error(message)
      }),
    close: async () => agent.destroy(),
  }
}

function fieldsOf(text: string): Fields {
  try {
    return JSON.parse(text)
  } catch {
    return { message: text.trim() }
  }
}

const messageOf = ({ message, error }: Fields, status: number) =>
  String(message ?? error ?? `status ${status}`)
