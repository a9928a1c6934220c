import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tlsOf, tlsToMaster } from '../../../core/config/transport/tls.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-tls-')
  for (const name of ['cert', 'key', 'ca']) await writeFile(join(folder, name), `the ${name}`)
})
afterAll(() => removeFolder(folder))

const file = (name: string) => join(folder, name)
const read = (ssl: Record<string, unknown>, side: 'server' | 'client' = 'client', transport = 'tcp') =>
  tlsOf({ ssl, transport }, side)

test('without ssl there is no TLS', () => {
  for (const ssl of [undefined, null, false])
    expect(tlsOf({ ssl, transport: 'zeromq' }, 'server')).toBeUndefined()
})

test('the files are read, and option values of Python have their meaning there', () => {
  const ssl = {
    certfile: file('cert'),
    keyfile: file('key'),
    ca_certs: file('ca'),
    cert_reqs: 'cert_required',
    ssl_version: 'PROTOCOL_TLSv1_2',
    ciphers: 'HIGH',
  }
  expect(read(ssl, 'server')).toEqual({
    cert: 'the cert',
    key: 'the key',
    ca: 'the ca',
    verify: 'required',
    checkHost: false,
    ciphers: 'HIGH',
    minVersion: 'TLSv1.2',
    maxVersion: 'TLSv1.2',
  })
})

test('a minion with ca_certs verifies its master; a master verifies certificates only with cert_reqs', () => {
  const ssl = { certfile: file('cert'), ca_certs: file('ca') }
  expect(read(ssl, 'client')?.verify).toBe('required')
  expect(read(ssl, 'server')).toMatchObject({ verify: 'none', key: 'the cert' })
  expect(tlsOf({ ssl: true, transport: 'ws' }, 'client')).toEqual({ verify: 'none', checkHost: false })
})

test.each([
  ['the transport zeromq has no TLS', {}, 'client', 'zeromq'],
  ["the key 'cafile'", { cafile: 'x' }, 'client', 'tcp'],
  ["a master needs 'certfile'", {}, 'server', 'tcp'],
  ["'cert_reqs' is 'maybe'; it can be CERT_REQUIRED", { cert_reqs: 'maybe' }, 'client', 'tcp'],
  ["'ssl_version' is 'PROTOCOL_SSLv3'; it can be", { ssl_version: 'PROTOCOL_SSLv3' }, 'client', 'tcp'],
  ["'certfile', the file /no/such, cannot be read", { certfile: '/no/such' }, 'client', 'tcp'],
] as const)('invalid settings are refused: %s', (text, ssl, side, transport) => {
  expect(() => read(ssl, side, transport)).toThrow(text)
})

test('a master whose address names a transport without TLS is contacted without, any other one with it', () => {
  const ssl = { ca_certs: file('ca') }
  const to = (transport: string, namesTransport: boolean) =>
    tlsToMaster({ ssl }, { transport, namesTransport })?.ca
  expect(to('tcp', true)).toBe('the ca')
  expect(to('ws', false)).toBe('the ca')
  expect(to('zeromq', true)).toBeUndefined()
  expect(() => to('zeromq', false)).toThrow('the transport zeromq has no TLS')
})
