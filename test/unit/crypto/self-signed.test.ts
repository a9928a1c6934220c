import { X509Certificate } from 'node:crypto'
import { createServer, request } from 'node:https'
import { expect, test } from 'vitest'
import { makeSelfSignedCertificate } from '../../../core/crypto/index.ts'

const names = ['web.example', 'localhost', '127.0.0.1', '::1']

test('the certificate names the server, is signed by its own key, and expires after the given days', () => {
  const now = Date.UTC(2049, 5, 1)
  const { cert, key } = makeSelfSignedCertificate(names, { days: 800, now })
  const x509 = new X509Certificate(cert)
  expect(x509.subject).toBe('CN=web.example')
  expect(x509.subjectAltName).toBe(
    'DNS:web.example, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  )
  expect(x509.verify(x509.publicKey)).toBe(true)
  expect(x509.ca).toBe(false)
  expect(x509.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  expect(Date.parse(x509.validTo)).toBe(now + 800 * 86_400_000)
  expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/)
  expect(new X509Certificate(makeSelfSignedCertificate(names, { days: 1 }).cert).serialNumber).not.toBe(
    x509.serialNumber,
  )
})

test('a client with the certificate as its CA can connect to a server that uses it', async () => {
  const { cert, key } = makeSelfSignedCertificate(names, { days: 1 })
  const server = createServer({ cert, key }, (_request, response) => response.end('hello'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  const said = await new Promise<string>((resolve, reject) => {
    request({ host: '127.0.0.1', port, ca: cert }, (response) =>
      response.on('data', (data) => resolve(String(data))),
    )
      .on('error', reject)
      .end()
  })
  expect(said).toBe('hello')
  server.closeAllConnections()
  server.close()
})
