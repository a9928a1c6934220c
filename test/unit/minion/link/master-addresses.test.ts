import { expect, test } from 'vitest'
import { loadMinionConfig } from '../../../../core/config/index.ts'
import { masterAddresses } from '../../../../core/minion/link/master-addresses.ts'

function addressesOf(master: string | string[], options: Record<string, unknown> = {}) {
  const overrides = { id: 'web1', master, ...options }
  return masterAddresses(loadMinionConfig({ configDir: '/nonexistent', overrides }).config)
}

test.each([
  ['salt', { host: 'salt', port: 4506 }],
  ['10.0.0.1', { host: '10.0.0.1', port: 4506 }],
  ['salt.example.com:5506', { host: 'salt.example.com', port: 5506 }],
  ['::1', { host: '::1', port: 4506 }],
  ['[::1]', { host: '::1', port: 4506 }],
  ['[fe80::1]:5506', { host: 'fe80::1', port: 5506 }],
])('master: %s', (master, address) => {
  expect(addressesOf(master)).toEqual([address])
})

test('masters of a list keep their order, and those without a port get master_port', () => {
  expect(addressesOf(['one', ' two:1 '], { master_port: 4600 })).toEqual([
    { host: 'one', port: 4600 },
    { host: 'two', port: 1 },
  ])
})

test('with master_uri_format: ip_only there is no port in it', () => {
  expect(addressesOf('fe80::4506', { master_uri_format: 'ip_only' })).toEqual([
    { host: 'fe80::4506', port: 4506 },
  ])
})

test('an empty list, and what is no address, is refused with the file or the word', () => {
  expect(() => addressesOf([])).toThrow('add "master: <address>" to /nonexistent/minion')
  expect(() => addressesOf('a b')).toThrow('The master "a b" is invalid')
})
