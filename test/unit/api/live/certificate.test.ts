import { X509Certificate } from 'node:crypto'
import { appendFile, copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ApiContext } from '../../../../core/api/context.ts'
import { ServerCertificate } from '../../../../core/api/live/certificate.ts'
import { httpServer } from '../../../../core/api/live/http-server.ts'
import { readSettings } from '../../../../core/api/settings.ts'
import { loadMasterConfig } from '../../../../core/config/index.ts'
import { fakeLog } from '../../../../core/testing/recording-log.ts'
import { type Certificate, selfSigned } from '../../../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'
import { until } from '../../../harness/until.ts'

let folder: string
let first: Certificate
let second: Certificate
let server: Server | undefined
let opened: ServerCertificate | undefined
let log: ReturnType<typeof fakeLog>

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-tls-')
  log = fakeLog()
  for (const name of ['1', '2']) await mkdir(join(folder, name))
  first = await selfSigned(join(folder, '1'))
  second = await selfSigned(join(folder, '2'))
})
afterEach(async () => {
  server?.closeAllConnections()
  if (server) await new Promise((done) => server?.close(done))
  server = undefined
  opened?.close()
  opened = undefined
  await removeFolder(folder)
})

async function open(api: Record<string, unknown>): Promise<ServerCertificate> {
  const { config } = loadMasterConfig({
    configDir: folder,
    overrides: { root_dir: folder, pki_dir: '/pki', api },
  })
  const { settings } = readSettings(config)
  const certificate = await ServerCertificate.open(settings, config, log.log)
  if (!certificate) throw new Error('no certificate')
  opened = certificate
  server = httpServer({ settings, certificate, log: log.log } as ApiContext, (_request, response) =>
    response.end(),
  )
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done))
  return certificate
}

/** Return the fingerprint that a client sees. */
function seen(options: object = {}): Promise<string> {
  const { port } = server!.address() as { port: number }
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

const fingerprint = async (file: string) => new X509Certificate(await readFile(file)).fingerprint256

test('a renewed certificate is used without a restart, and open connections stay open', SLOW, async () => {
  await open({ ssl_crt: first.cert, ssl_key: first.key })
  const { port } = server!.address() as { port: number }
  const before = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await new Promise((done) => before.once('secureConnect', done))
  expect(await seen()).toBe(await fingerprint(first.cert))
  await copyFile(second.cert, first.cert)
  await copyFile(second.key, first.key)
  const renewed = await fingerprint(second.cert)
  await until('the new certificate', async () => (await seen()) === renewed)
  before.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const answer = await new Promise((resolve) => before.once('data', (data) => resolve(String(data))))
  expect(answer).toMatch(/^HTTP\/1.1 200/)
  expect(log.lines.filter(({ level }) => level === 'error')).toEqual([])
  before.destroy()
})

test('a new certificate that cannot be used is logged, and the old one stays', async () => {
  const certificate = await open({ ssl_crt: first.cert, ssl_key: first.key })
  const before = await fingerprint(first.cert)
  await copyFile(second.cert, first.cert)
  await certificate.reload()
  expect(log.lines.at(-1)?.message).toMatch(
    /^The new TLS certificate cannot be used; the old one stays in use. The certificate in .*cert.pem with the key in .*key.pem cannot be used for TLS: /,
  )
  await writeFile(first.cert, 'rubbish')
  await certificate.reload()
  await rm(first.cert)
  await certificate.reload()
  expect(log.lines.filter(({ level }) => level === 'error')).toHaveLength(3)
  expect(await seen()).toBe(before)
  await copyFile(second.cert, first.cert)
  await copyFile(second.key, first.key)
  await certificate.reload()
  expect(await seen()).toBe(await fingerprint(second.cert))
})

test('versions of TLS before 1.2 are refused', async () => {
  await open({ ssl_crt: first.cert, ssl_key: first.key })
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }
  await expect(seen(old)).rejects.toThrow(/alert|unsupported|version/i)
})

test('key and certificate can be one file, and ssl_chain is sent, too', async () => {
  await appendFile(first.cert, await readFile(first.key))
  await open({ ssl_crt: first.cert, ssl_chain: second.cert })
  expect(await seen()).toBe(await fingerprint(first.cert))
})

test('without ssl_crt the server makes a certificate of its own, readable by its user only, and keeps it', async () => {
  await open({})
  const own = join(folder, 'pki', 'api.pem')
  const shown = await seen({ ca: await readFile(own), rejectUnauthorized: true })
  expect(shown).toBe(await fingerprint(own))
  expect((await stat(own)).mode & 0o777).toBe(0o600)
  expect(log.lines.at(-1)?.message).toContain(shown)
  server?.closeAllConnections()
  server?.close()
  await open({})
  expect(await seen()).toBe(shown)
})

test('a certificate that cannot be used keeps the server from starting, with a sentence', async () => {
  const files = { ssl_crt: first.cert, ssl_key: second.key }
  await expect(open(files)).rejects.toThrow(/cannot be used for TLS: .*See ssl_crt, ssl_key and ssl_chain\.$/)
  await expect(open({ ssl_crt: '/nowhere', ssl_key: first.key })).rejects.toThrow(
    /^The file \/nowhere for TLS cannot be read: /,
  )
  await expect(open({ ssl_key: first.key })).rejects.toThrow(/has ssl_key, but no ssl_crt/)
})
