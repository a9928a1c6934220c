import { expect, test } from 'vitest'
import { loadMinionConfig } from '../../../../core/config/index.ts'
import { masterAddresses } from '../../../../core/minion/link/master-addresses.ts'

function addressesOf(master: string | string[], options: Record<string, unknown> = {}) {
  const overrides = { id: 'web1', master, ...options }
  return masterAddresses(loadMinionConfig({ configDir: '/nonexistent', overrides }).config)
}

const places = (...asked: Parameters<typeof addressesOf>) =>
  addressesOf(...asked).map(({ host, port }) => ({ host, port }))

test.each([
  ['salt', { host: 'salt', port: 4506 }],
  ['10.0.0.1', { host: '10.0.0.1', port: 4506 }],
  ['salt.example.com:5506', { host: 'salt.example.com', port: 5506 }],
  ['::1', { host: '::1', port: 4506 }],
  ['[::1]', { host: '::1', port: 4506 }],
  ['[fe80::1]:5506', { host: 'fe80::1', port: 5506 }],
])('master: %s', (master, address) => {
  expect(places(master)).toEqual([address])
})

test('masters of a list keep their order, and those without a port get master_port', () => {
  expect(places(['one', ' two:1 '], { master_port: 4600 })).toEqual([
    { host: 'one', port: 4600 },
    { host: 'two', port: 1 },
  ])
})

test('with master_uri_format: ip_only there is no port in it', () => {
  expect(places('fe80::4506', { master_uri_format: 'ip_only' })).toEqual([{ host: 'fe80::4506', port: 4506 }])
})

test('a master can have a transport of its own, and the others have that of the minion', () => {
  const masters = ['one', 'tcp://two:1', 'WS://[fe80::1]', 'zeromq://four']
  expect(addressesOf(masters, { transport: 'tcp' })).toEqual([
    { text: 'one', transport: 'tcp', namesTransport: false, host: 'one', port: 4506 },
    { text: 'tcp://two:1', transport: 'tcp', namesTransport: true, host: 'two', port: 1 },
    { text: 'WS://[fe80::1]', transport: 'ws', namesTransport: true, host: 'fe80::1', port: 4506 },
    { text: 'zeromq://four', transport: 'zeromq', namesTransport: true, host: 'four', port: 4506 },
  ])
})

test('all masters over NATS count as one', () => {
  const nats = { transport: 'nats', host: '', port: 4506 }
  expect(addressesOf(['one', 'two'], { transport: 'nats' })).toEqual([
    { text: 'one', namesTransport: false, ...nats },
  ])
  expect(addressesOf(['nats://', 'two', 'nats://'])).toEqual([
    { text: 'nats://', namesTransport: true, ...nats },
    { text: 'two', transport: 'zeromq', namesTransport: false, host: 'two', port: 4506 },
  ])
})

test.each(['raet', 'memory', 'http'])('a master over %s is refused', (scheme) => {
  expect(() => addressesOf(`${scheme}://one`)).toThrow(
    `The master "${scheme}://one" is invalid: there is no transport '${scheme}'; it can be zeromq, tcp, ws, nats.`,
  )
})

test('an empty list, and an invalid address, are refused with the file or the word', () => {
  expect(() => addressesOf([])).toThrow('add "master: <address>" to /nonexistent/minion')
  expect(() => addressesOf('a b')).toThrow('The master "a b" is invalid')
})
