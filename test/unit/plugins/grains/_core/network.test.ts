import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

import subject, { addressGrains } from '../../../../../plugins/grains/_core/network.ts'
import { Host } from '../../../../../plugins/grains/_facts/host.ts'
import { gatewayIn4, gatewayIn6 } from '../../../../../plugins/grains/_net/gateway.ts'
import { linkAddress } from '../../../../../plugins/grains/_net/interfaces.ts'
import { addressesOf, namesOf, parseHosts, qualify } from '../../../../../plugins/grains/_net/names.ts'
import { parseResolv } from '../../../../../plugins/grains/_net/resolv.ts'
import { removeFolder, temporaryFolder } from '../../../../harness/folder.ts'
import { collectFrom } from '../context.ts'

test('addresses are listed by interface, and all together in numerical order', () => {
  const eth0 = {
    name: 'eth0',
    ipv4: ['10.0.0.20', '10.0.0.3'],
    ipv6: ['fe80::1', '2001:db8::10', '2001:db8::9'],
  }
  const grains = addressGrains([
    { name: 'lo', ipv4: ['127.0.0.1'], ipv6: ['::1'], hwaddr: '00:00:00:00:00:00' },
    { ...eth0, hwaddr: '02:00:00:00:00:01' },
    { name: 'tun0', ipv4: [], ipv6: [], hwaddr: undefined },
  ])
  expect(grains).toEqual({
    ip_interfaces: { lo: ['127.0.0.1', '::1'], eth0: [...eth0.ipv4, ...eth0.ipv6], tun0: [] },
    ip4_interfaces: { lo: ['127.0.0.1'], eth0: eth0.ipv4, tun0: [] },
    ip6_interfaces: { lo: ['::1'], eth0: eth0.ipv6, tun0: [] },
    hwaddr_interfaces: { lo: '00:00:00:00:00:00', eth0: '02:00:00:00:00:01' },
    ipv4: ['10.0.0.3', '10.0.0.20', '127.0.0.1'],
    ipv6: ['::1', '2001:db8::9', '2001:db8::10', 'fe80::1'],
  })
})

// As `ip link` prints them.
test.each([
  ['an Ethernet card', '02:00:00:00:00:01', '1', '02:00:00:00:00:01'],
  ['a tunnel of IPv6 in IPv4', 'c0:00:02:01', '776', '192.0.2.1'],
  ['an unset tunnel of IPv4', '00:00:00:00', '768', '0.0.0.0'],
  ['a tunnel in IPv6', '20:01:0d:b8:00:00:00:00:00:00:00:00:00:00:00:01', '769', '2001:db8::1'],
  ['a tunnel without an address', undefined, '65534', undefined],
])('the hardware address of %s', (_, address, type, expected) => {
  expect(linkAddress(address, type)).toBe(expected)
})

describe('Gateways', () => {
  const head = 'Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n'

  test('IPv4: the default route with the lowest metric', () => {
    const table = `${head}eth1 00000000 0100A8C0 0003 0 0 200 00000000 0 0 0\neth0 00000000 010200C0 0003 0 0 100 00000000 0 0 0\neth0 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n`
    expect(gatewayIn4(table)).toBe('192.0.2.1')
  })

  test('IPv4: true for a route without an address, false without a route', () => {
    expect(gatewayIn4(`${head}ppp0 00000000 00000000 0001 0 0 0 00000000 0 0 0\n`)).toBe(true)
    expect(gatewayIn4(head)).toBe(false)
  })

  test('IPv6: the default route is found', () => {
    const zero = '0'.repeat(32)
    const line = (hop: string, device: string) =>
      `${zero} 00 ${zero} 00 ${hop} 00000400 1 0 00000003 ${device}\n`
    expect(gatewayIn6(line('fd000000000000000000000000000001', 'eth0'))).toBe('fd00::1')
    expect(gatewayIn6(line(zero, 'tun0'))).toBe(true)
    expect(gatewayIn6(line(zero, 'lo'))).toBe(false)
  })
})

test('resolv.conf is read as the resolver does', () => {
  const text =
    '# c\nnameserver 10.0.0.1\nnameserver fd00::1 ; c\nnameserver bad\nnameserver 10.0.0.1\nsearch a.example b.example\noptions ndots:2 x\ndomain c.example\n'
  expect(parseResolv(text)).toEqual({
    nameservers: ['10.0.0.1', 'fd00::1'],
    ip4_nameservers: ['10.0.0.1'],
    ip6_nameservers: ['fd00::1'],
    sortlist: [],
    domain: 'c.example',
    search: ['a.example', 'b.example'],
    options: ['ndots:2'],
  })
})

describe('Names', () => {
  const hosts = parseHosts(
    '127.0.0.1 localhost\n127.0.1.1 web1.example.com web1 # me\n10.0.0.5 db.example.com db\nx y\n',
  )

  test('the hosts file is used for the full name', async () => {
    expect(await qualify('web1', hosts, [])).toBe('web1.example.com')
    expect(await qualify('a.b.c', hosts, [])).toBe('a.b.c')
    expect(await qualify('other', hosts, [])).toBe('other')
  })

  test('the hosts file is used for addresses and names', async () => {
    expect(await addressesOf('web1.example.com', hosts)).toEqual({ ipv4: ['127.0.1.1'], ipv6: [] })
    expect(await namesOf(['10.0.0.5'], hosts)).toContain('db.example.com')
  })
})

test('addresses and a name of this host are found', async () => {
  const { grains, lines } = await collectFrom(subject)
  expect(lines).toEqual([])
  expect(grains).toMatchObject({
    localhost: os.hostname(),
    host: expect.any(String),
    fqdn: expect.any(String),
    domain: expect.any(String),
    fqdns: expect.any(Array),
    ip_interfaces: expect.objectContaining({ lo: expect.arrayContaining(['127.0.0.1']) }),
    ipv4: expect.arrayContaining(['127.0.0.1']),
  })
})

test('enable_fqdns_grains turns reverse lookups off', async () => {
  expect((await collectFrom(subject, { enable_fqdns_grains: false })).grains.fqdns).toEqual([])
})

describe('The addresses of the name of this host, in a system without a hosts file', () => {
  let root: string
  beforeEach(async () => {
    root = await temporaryFolder('salt-ts-names-')
    await mkdir(join(root, 'etc'))
  })
  afterEach(() => removeFolder(root))

  test('are all its own, if nss-myhostname resolves it', async () => {
    await writeFile(join(root, 'etc/nsswitch.conf'), 'passwd: files\nhosts: files myhostname dns\n')
    const { grains } = await collectFrom(subject, { enable_fqdns_grains: false }, new Host(root))
    const own = (grains.ipv4 as string[]).filter((address) => !address.startsWith('127.'))
    expect([...(grains.fqdn_ip4 as string[])].sort()).toEqual(own.length > 0 ? own.sort() : ['127.0.0.2'])
  })
})
