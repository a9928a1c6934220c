import { X509Certificate } from 'node:crypto'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ApiServer, openApi } from '../../../../core/api/main.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { type Certificate, selfSigned } from '../../../harness/certificate.ts'
import { openTestApi, type TestApi } from '../../../harness/test-api.ts'
import { until } from '../../../harness/until.ts'

let api: TestApi
let server: ApiServer | undefined
let stopping: AbortController
let first: Certificate
let log: ReturnType<typeof fakeLog>
let second: Certificate

beforeEach(async () => {
  log = fakeLog()
  api = await openTestApi()
  stopping = new AbortController()
  const folders = ['1', '2'].map((name) => join(api.config.sock_dir, name))
  for (const folder of folders) await mkdir(folder)
  ;[first, second] = (await Promise.all(folders.map((folder) => selfSigned(folder)))) as [
    Certificate,
    Certificate,
  ]
  const settings = { host: '127.0.0.1', port: 0, ssl_crt: first.cert, ssl_key: first.key }
  server = await openApi({ ...api.config, api: settings }, log.log, stopping.signal)
})
afterEach(async () => {
  stopping.abort()
  await server?.close()
  await api.close()
})

interface Said {
  readonly status: number | undefined
  readonly fingerprint: string
}

const ask = (): Promise<Said> =>
  new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port: server?.port,
      path: '/livez',
      rejectUnauthorized: false,
      agent: false,
    }
    request(options, (response) => {
      const socket = response.socket as import('node:tls').TLSSocket
      resolve({ status: response.statusCode, fingerprint: socket.getPeerCertificate().fingerprint256 })
      response.resume()
    })
      .on('error', reject)
      .end()
  })

const fingerprint = async (file: string) => new X509Certificate(await readFile(file)).fingerprint256

test('the certificate is read again on request', async () => {
  expect(await ask()).toEqual({ status: 200, fingerprint: await fingerprint(first.cert) })
  await copyFile(second.cert, first.cert)
  await copyFile(second.key, first.key)
  await server?.reload()
  const renewed = await fingerprint(second.cert)
  await until('the new certificate', async () => (await ask()).fingerprint === renewed)
})

test('websockets are served as well, and unencrypted HTTP is refused', async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${server?.port}/ws/abc`, { rejectUnauthorized: false })
  const status = await new Promise((resolve) => {
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode))
    socket.on('error', () => {})
  })
  // The master that checks the token is not running.
  expect(status).toBe(401)
  const plain = connect(server!.port, '127.0.0.1', () => plain.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  const said = await new Promise<string>((resolve) => {
    let text = ''
    plain.on('data', (data) => {
      text += data
    })
    plain.on('close', () => resolve(text))
  })
  expect(said).not.toContain('200 OK')
  expect(log.lines.at(-1)?.message).toBe(
    'A client at 127.0.0.1 sent plain HTTP, but this server expects HTTPS (see disable_ssl).',
  )
})
