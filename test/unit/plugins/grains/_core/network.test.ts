import os from 'node:os'
import { describe, expect, test } from 'vitest'
import plugin, { addressGrains } from '../../../../../plugins/grains/_core/network.ts'
import { gatewayIn4, gatewayIn6 } from '../../../../../plugins/grains/_net/gateway.ts'
import { addressesOf, namesOf, parseHosts, qualify } from '../../../../../plugins/grains/_net/names.ts'
import { parseResolv } from '../../../../../plugins/grains/_net/resolv.ts'
import { collect } from '../context.ts'

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

  test('IPv6', () => {
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

  test('the hosts file gives the full name', async () => {
    expect(await qualify('web1', hosts, [])).toBe('web1.example.com')
    expect(await qualify('a.b.c', hosts, [])).toBe('a.b.c')
    expect(await qualify('other', hosts, [])).toBe('other')
  })

  test('the hosts file gives addresses and names', async () => {
    expect(await addressesOf('web1.example.com', hosts)).toEqual({ ipv4: ['127.0.1.1'], ipv6: [] })
    expect(await namesOf(['10.0.0.5'], hosts)).toContain('db.example.com')
  })
})

test('this host has addresses and a name', async () => {
  const { grains, lines } = await collect(plugin)
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
  expect((await collect(plugin, { enable_fqdns_grains: false })).grains.fqdns).toEqual([])
})
