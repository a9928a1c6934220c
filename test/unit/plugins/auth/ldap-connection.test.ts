import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { withLdap } from '../../../../plugins/auth/_ldap-connection.ts'
import { ldapSettings } from '../../../../plugins/auth/_ldap-settings.ts'
import { SLOW } from '../../../harness/slow.ts'

/** The answer to a bind: success, with the number of the message. */
const bound = (request: Buffer) =>
  Buffer.from([0x30, 12, 2, 1, request[4] ?? 0, 0x61, 7, 10, 1, 0, 4, 0, 4, 0])

test(
  'a connection is opened once, because its state, such as TLS, would not apply to another one',
  SLOW,
  async () => {
    const heard: string[] = []
    let connections = 0
    const server = createServer((socket) => {
      connections++
      socket.on('error', () => undefined)
      socket.on('data', (bytes) => {
        heard.push(bytes.toString('latin1'))
        socket.end(bound(bytes))
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as { port: number }
    const settings = ldapSettings(
      { 'auth.ldap.uri': `ldap://127.0.0.1:${port}` },
      { binddn: 'uid={{ username }},dc=x' },
    )
    const asked = withLdap(settings, new AbortController().signal, async (connection) => {
      expect(await connection.bind('uid=one,dc=x', 'first password')).toBe(true)
      await delay(200) // until the loss is noticed
      return connection.bind('uid=two,dc=x', 'second password')
    })
    await expect(asked).rejects.toThrow('the connection to the server was lost')
    expect(connections).toBe(1)
    expect(heard.join('')).not.toContain('second')
    await new Promise((done) => server.close(done))
  },
)

test('a bind without a password is refused', async () => {
  const settings = ldapSettings({}, { binddn: 'uid={{ username }},dc=x', server: '127.0.0.1', port: 1 })
  const bound = withLdap(settings, new AbortController().signal, (connection) =>
    connection.bind('uid=one,dc=x', ''),
  )
  expect(await bound).toBe(false)
})
