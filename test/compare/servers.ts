/** Servers on loopback, for calls of functions that send requests. */
import { readFileSync } from 'node:fs'
import { selfSigned } from '../harness/certificate.ts'
import { type Asked, httpServer, type Told } from '../harness/http-server.ts'

/** Names in a list of calls, with what takes their place. */
export type Places = Readonly<Record<string, string>>

export interface Servers {
  /** `http` and `https` are URLs without a slash at their end, `cert` and `key` files of the certificate of `https`. */
  readonly places: Places
  close(): Promise<void>
}

/** Start a server for http and one for https, whose certificate is made in the folder. */
export async function startServers(folder: string): Promise<Servers> {
  const { cert, key } = await selfSigned(folder)
  const plain = await httpServer(answerOf)
  const secure = await httpServer(answerOf, { cert: { cert: readFileSync(cert), key: readFileSync(key) } })
  const [http = '', https = ''] = [plain.url, secure.url].map((url) => url.slice(0, -1))
  return {
    places: { http, https, cert, key },
    close: async () => {
      await plain.close()
      await secure.close()
    },
  }
}

const XML =
  '<all><one a="1">x</one><many><n>1</n><n>2</n><empty/></many><ns:b xmlns:ns="urn:x">y &amp; z</ns:b></all>'

const FIXED: Readonly<Record<string, Told>> = {
  '/text': { text: 'hello\n', headers: { 'content-type': 'text/plain' } },
  '/json': { text: '{"a": 1, "b": [true, null, 1.5]}', headers: { 'content-type': 'application/json' } },
  '/bare': { text: '{"a": 1}' },
  '/broken': { text: '{"a": ', headers: { 'content-type': 'application/json' } },
  '/yaml': { text: 'a: 1\nb: [x, y]\n', headers: { 'content-type': 'text/yaml' } },
  '/xml': { text: XML, headers: { 'content-type': 'application/xml' } },
  '/latin1': { text: 'gr\u00fc\u00df', headers: { 'content-type': 'text/plain; charset=latin1' } },
  '/empty': { status: 204 },
  '/cookie': { text: 'sweet', headers: { 'content-type': 'text/plain', 'set-cookie': 'a=b; Path=/' } },
  '/near': { status: 302, headers: { location: '/text' } },
  '/posted': { status: 303, headers: { location: '/echo' } },
}

function answerOf({ method, path, query, headers, body }: Asked): Told {
  const [, status] = /^\/status\/(\d+)$/.exec(path) ?? []
  if (status !== undefined) return { status: Number(status), text: `said ${status}` }
  if (path === '/login' && headers.authorization !== 'Basic bWU6cHc=') return { status: 401, text: 'who?' }
  const seen = { method, query: [...query], body, type: headers['content-type'] ?? null }
  const more = {
    own: headers['x-own'] ?? null,
    cookie: headers.cookie ?? null,
    login: headers.authorization ?? null,
  }
  return (
    FIXED[path] ?? {
      text: JSON.stringify({ ...seen, ...more }),
      headers: { 'content-type': 'application/json' },
    }
  )
}
