import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readInterfaces } from '../../../modules/_host/interfaces.ts'
import { readNetstat, readSs, readTraceroute } from '../../../modules/_host/open-sockets.ts'
import { readRoutes, readRoutes6, readRouteTo } from '../../../modules/_host/routes.ts'
import * as network from '../../../modules/network.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { SLOW } from '../../harness/slow.ts'
import { hostContext, stubPrograms } from './_host/context.ts'
import { type AnyFn, call } from './context.ts'

const ask = (which: AnyFn, given: Record<string, unknown> = {}) => call(which, given, hostContext())

describe('Calculations', () => {
  test.each([
    [
      network.convert_cidr,
      { cidr: '172.31.0.5/16' },
      { network: '172.31.0.0', netmask: '255.255.0.0', broadcast: '172.31.255.255' },
    ],
    [network.calc_net, { ip_addr: '172.17.0.5', netmask: '255.255.255.240' }, '172.17.0.0/28'],
    [network.calc_net, { ip_addr: '2a02:f6e:a000:80:84d8:8332:7866:4e07/64' }, '2a02:f6e:a000:80::/64'],
    [network.ip_in_subnet, { ip_addr: '172.17.0.4', cidr: '172.16.0.0/12' }, true],
    [network.ip_in_subnet, { ip_addr: '172.17.0.4', cidr: 'bad' }, false],
    [network.is_private, { ip_addr: '10.0.0.3' }, true],
    [network.is_private, { ip_addr: '8.8.8.8' }, false],
    [network.is_loopback, { ip_addr: '::1' }, true],
    [network.reverse_ip, { ip_addr: '172.17.0.4' }, '4.0.17.172.in-addr.arpa'],
    [network.iphexval, { ip: '10.0.0.1' }, '0A000001'],
  ] as [AnyFn, Record<string, unknown>, unknown][])('%# %o', async (which, given, expected) => {
    expect(await ask(which, given)).toEqual(expected)
  })

  test('an invalid address or network is refused', async () => {
    await expect(ask(network.is_private, { ip_addr: 'x' })).rejects.toThrow(
      "'x' does not appear to be an IPv4",
    )
    await expect(ask(network.calc_net, { ip_addr: '1.2.3.4/33' })).rejects.toThrow(
      "'1.2.3.4/33' does not appear",
    )
    await expect(ask(network.routes, { family: 'foo' })).rejects.toThrow('Invalid address family foo')
  })
})

describe('Output of programs and tables (recorded)', () => {
  test('interfaces have addresses, also secondary ones and a parent', () => {
    const text = `2: eth0@if7: <BROADCAST,UP,LOWER_UP> mtu 1500 state UP
    link/ether 02:fc:00:00:00:01 brd ff:ff:ff:ff:ff:ff link-netnsid 0
    inet 192.0.2.2/24 brd 192.0.2.255 scope global eth0
       valid_lft forever preferred_lft forever
    inet 192.0.2.3/24 scope global secondary eth0:1
    inet6 fd00::2/64 scope global
3: down0: <BROADCAST> mtu 1500
`
    const common = { netmask: '255.255.255.0' }
    expect(readInterfaces(text)).toEqual({
      eth0: {
        up: true,
        parent: 'if7',
        hwaddr: '02:fc:00:00:00:01',
        inet: [{ address: '192.0.2.2', ...common, broadcast: '192.0.2.255', label: 'eth0' }],
        inet6: [{ address: 'fd00::2', prefixlen: '64', scope: 'global' }],
        secondary: [{ type: 'inet', address: '192.0.2.3', ...common, broadcast: null, label: 'eth0:1' }],
      },
      down0: { up: false },
    })
  })

  test('routes have flags as netstat writes them', () => {
    const table = 'Iface Destination\neth0 00000000 010200C0 0003 0 0 0 00000000 0 0 0\n'
    expect(readRoutes(table)).toEqual([
      {
        addr_family: 'inet',
        destination: '0.0.0.0',
        gateway: '192.0.2.1',
        netmask: '0.0.0.0',
        flags: 'UG',
        interface: 'eth0',
      },
    ])
    const zero = '0'.repeat(32)
    const [route] = readRoutes6(`${zero} 00 ${zero} 00 ${zero} ffffffff 00000001 00000000 00200200 lo\n`)
    expect(route).toMatchObject({ destination: '::/0', gateway: '::', flags: '!n', interface: 'lo' })
    expect(readRouteTo('10.9.9.9 via 192.0.2.1 dev eth0 src 192.0.2.2 uid 0')).toEqual({
      gateway: '192.0.2.1',
      interface: 'eth0',
      source: '192.0.2.2',
    })
  })

  test('netstat and ss list sockets', () => {
    expect(
      readNetstat(
        'tcp 0 1 127.0.0.1:22 0.0.0.0:* LISTEN 0 64 29/sshd\nudp 0 0 0.0.0.0:68 0.0.0.0:* 0 65 30/dhcp',
      ),
    ).toEqual([
      expect.objectContaining({ proto: 'tcp', state: 'LISTEN', user: '0', inode: '64', program: '29/sshd' }),
      expect.objectContaining({ proto: 'udp', user: '0', inode: '65', program: '30/dhcp' }),
    ])
    expect(
      readSs('tcp ESTAB 0 0 127.0.0.1:22 1.2.3.4:9 users:(("sshd",pid=2,fd=3)) uid:106 ino:64 sk:1'),
    ).toEqual([expect.objectContaining({ state: 'ESTABLISHED', user: '106', inode: '64', program: 'sshd' })])
  })

  test('traceroute lists hops', () => {
    const text = 'traceroute to x\n 1  gw (10.0.0.1)  0.1 ms  0.2 ms  0.3 ms\n 2  * * *\n 3  odd\n'
    expect(readTraceroute(text)).toEqual([
      { count: 1, hostname: 'gw', ip: '10.0.0.1', ms1: 0.1, ms2: 0.2, ms3: 0.3 },
      { count: 2, hostname: '*' },
      {},
    ])
  })
})

describe('This host', () => {
  test('has a loopback interface', SLOW, async () => {
    expect(await ask(network.interface_ip, { iface: 'lo' })).toBe('127.0.0.1')
    expect(await ask(network.hw_addr, { iface: 'none' })).toContain(
      'Interface "none" not in available interfaces',
    )
    expect(await ask(network.ip_addrs, { include_loopback: true })).toContain('127.0.0.1')
    expect(await ask(network.ip_addrs)).not.toContain('127.0.0.1')
    expect(await ask(network.ifacestartswith, { cidr: '127.0.0.1' })).toEqual(['lo'])
  })

  test('connect reports whether a port is open', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    expect(await ask(network.connect, { host: '127.0.0.1', port })).toEqual({
      result: true,
      comment: `Successfully connected to 127.0.0.1 (127.0.0.1) on tcp port ${port}`,
    })
    expect(await ask(network.connect, { host: '127.0.0.1', port, family: 'ipv6' })).toEqual({
      result: false,
      comment: `Unable to resolve host 127.0.0.1 on tcp port ${port}`,
    })
    const connected = (await ask(network.active_tcp)) as Map<number, unknown>
    expect([...connected.keys()].slice(0, 1)).toEqual([0])
    await new Promise((resolve) => server.close(resolve))
    expect(await ask(network.connect, { host: '127.0.0.1', port })).toMatchObject({ result: false })
    expect(await ask(network.connect, { host: '127.0.0.1', port: 'abc' })).toEqual({
      result: false,
      comment: 'Unable to resolve host 127.0.0.1 on tcp port abc',
    })
    expect(await ask(network.connect, { host: '127.0.0.1', port: 'tcpmux' })).toEqual({
      result: false,
      comment: 'Unable to connect to 127.0.0.1 (127.0.0.1) on tcp port tcpmux',
    })
    expect(await ask(network.connect, { host: '127.0.0.1', port: 99_999 })).toEqual({
      result: false,
      comment: 'Unable to connect to 127.0.0.1 (127.0.0.1) on tcp port 99999',
    })
    expect(await ask(network.connect, { host: '' })).toMatchObject({
      comment: 'Required argument, host, is missing.',
    })
  })

  test('an option as a host is refused', async () => {
    await expect(ask(network.ping, { host: '-f' })).rejects.toThrow(
      "'-f' is not the name or address of a host",
    )
  })
})

describe('Names and buffers', () => {
  let folder: string
  beforeEach(async () => {
    folder = await temporaryFolder('salt-ts-network-')
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await removeFolder(folder)
  })

  test('the sizes of ring buffers are read and set by ethtool (a stand-in)', async () => {
    const shown =
      'Ring parameters for eth0:\\nPre-set maximums:\\nRX:\\t\\t4096\\nCurrent hardware settings:\\nRX:\\t\\t256\\n'
    await stubPrograms(folder, { ethtool: `[ "$1" = -G ] || printf '${shown}'` })
    expect(await ask(network.get_bufsize, { iface: 'eth0' })).toEqual({
      result: true,
      'rx-max': 4096,
      rx: 256,
    })
    expect(await ask(network.mod_bufsize, { iface: 'eth0', kwargs: { rx: 512, tx: 1 } })).toEqual({
      result: true,
      comment: 'rx 512 tx 1',
    })
    expect(await ask(network.mod_bufsize, { iface: 'eth0' })).toMatchObject({ result: false })
    await expect(ask(network.get_bufsize, { iface: '-i' })).rejects.toThrow('is not the name of an interface')
  })

  test('an invalid name of a host is refused', async () => {
    for (const hostname of ['-x', 'a b', 'a\nb', 'x'.repeat(254)])
      await expect(ask(network.mod_hostname, { hostname })).rejects.toThrow('is not the name of a host')
  })
})
