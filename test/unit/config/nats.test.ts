import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { natsOf } from '../../../core/config/transport/nats.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'

const folder = await temporaryFolder('salt-ts-nats-')
afterAll(() => removeFolder(folder))
const file = join(folder, 'file')
writeFileSync(file, 'content')

test('without options NATS is on this host, and the prefix is salt', () => {
  expect(natsOf({ nats: {} })).toEqual({ servers: ['127.0.0.1:4222'], prefix: 'salt' })
})

test('servers may be written as a text, and every key in the form nats.key', () => {
  const config = { nats: { servers: 'one, two:4223' }, 'nats.prefix': 'north', 'nats.user': 'salt' }
  expect(natsOf(config)).toEqual({ servers: ['one', 'two:4223'], prefix: 'north', user: 'salt' })
})

test('files of TLS, which they turn on, and of credentials are read', () => {
  const tls = { rejectUnauthorized: true }
  expect(natsOf({ nats: { ssl_ca: file } })).toMatchObject({ tls: { ...tls, ca: 'content' } })
  expect(natsOf({ nats: { ssl_cert: file } })).toMatchObject({
    tls: { ...tls, cert: 'content', key: 'content' },
  })
  expect(natsOf({ nats: { ssl_key: file } })).toMatchObject({ tls: { ...tls, key: 'content' } })
  expect(natsOf({ nats: { ssl: true, insecure: true } }).tls).toEqual({ rejectUnauthorized: false })
  expect(natsOf({ nats: { credentials: file } }).credentials).toEqual(Buffer.from('content'))
})

test.each([
  [{ server: 'x' }, "it has the key 'server'; salt-ts knows servers, prefix"],
  [{ servers: [] }, "'servers' is not a list of addresses"],
  [{ servers: [4222] }, "'servers' is not a list of addresses"],
  [{ prefix: 'a.b' }, "'prefix' is 'a.b'; it may have letters, digits, _ and -"],
  [{ password: 1 }, "'password' is not text. Put it in quotes"],
  [{ ssl: 'yes' }, "'ssl' is neither true nor false"],
  [{ insecure: true }, "'insecure' is true without TLS; add ssl: true"],
  [{ ssl_ca: '/nowhere' }, "'ssl_ca', the file /nowhere, cannot be read"],
])('%j is refused', (nats, why) => {
  expect(() => natsOf({ nats })).toThrow(`The option 'nats' is not right: ${why}`)
})
