import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { selfSigned } from '../../../harness/certificate.ts'

export interface GitServer {
  /** With a slash at its end. */
  readonly url: string
  /** The arguments of all processes of this host that had one of the secrets, whenever somebody asked the server. */
  readonly seen: readonly string[]
  /** The users who have signed in. */
  readonly users: readonly string[]
  close(): Promise<void>
}

/** Serve the repositories below a folder over TLS, to those who sign in with one of these passwords. */
export async function gitServer(
  folder: string,
  logins: Readonly<Record<string, string>>,
): Promise<GitServer> {
  const { cert, key } = await selfSigned(folder)
  const [seen, users]: [string[], string[]] = [[], []]
  const server = createServer({ cert: await readFile(cert), key: await readFile(key) })
  server.on('request', async (request: IncomingMessage, response: ServerResponse) => {
    seen.push(...argumentsWith(Object.values(logins).flatMap((text) => [text, inUrl(text)])))
    const [user = '', password = ''] = basicLogin(request)
    if (logins[user] !== password || password === '') {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    users.push(user)
    respond(response, await backend(folder, user, request))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    seen,
    users,
    close: () => new Promise((done) => void server.close(() => done()).closeAllConnections()),
  }
}

function argumentsWith(secrets: readonly string[]): string[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    })
  return all.filter((words) => secrets.some((secret) => words.includes(secret)))
}

const inUrl = (text: string): string => text.replaceAll(/[@:/]/g, encodeURIComponent)

function basicLogin({ headers }: IncomingMessage): string[] {
  const text = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString()
  const at = text.indexOf(':')
  return at < 0 ? [] : [text.slice(0, at), text.slice(at + 1)]
}

async function backend(folder: string, user: string, request: IncomingMessage): Promise<Buffer> {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost')
  const child = spawn('git', ['http-backend'], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      REMOTE_USER: user,
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // It may have answered before it has read everything.
  child.stdin.on('error', () => undefined).end(await buffer(request))
  return buffer(child.stdout)
}

function respond(response: ServerResponse, output: Buffer): void {
  const end = output.indexOf('\r\n\r\n')
  const headers = output.toString('latin1', 0, end).split('\r\n')
  for (const header of headers) {
    const [name = '', value = ''] = header.split(': ')
    if (name === 'Status') response.statusCode = Number.parseInt(value, 10)
    else response.setHeader(name, value)
  }
  response.end(output.subarray(end + 4))
}
