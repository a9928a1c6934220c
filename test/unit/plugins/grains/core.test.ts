import { expect, test } from 'vitest'
import plugin from '../../../../plugins/grains/core.ts'
import { collect } from './context.ts'

const names =
  'id os os_family osrelease osrelease_info osfullname osfinger osarch kernel kernelrelease kernelversion cpuarch ' +
  'cpu_model cpu_flags num_cpus mem_total swap_total host fqdn fqdns domain nodename localhost ipv4 ipv6 ' +
  'ip4_interfaces ip6_interfaces ip_interfaces hwaddr_interfaces ip_gw ip4_gw ip6_gw virtual path systempath shell ' +
  'pid uid gid username groupname cwd saltversion saltversioninfo saltpath nodeversion server_id master init timezone ' +
  'locale_info disks ssds efi gpus num_gpus transactional zfs_support zfs_feature_flags zmqversion ps kernelparams'

test('the core grains have the names and values of Salt, and none failed', async () => {
  const { grains, lines } = await collect(plugin, { id: 'm1', master: 'salt' })
  expect(lines).toEqual([])
  expect(Object.keys(grains)).toEqual(expect.arrayContaining(names.split(' ')))
  expect(JSON.parse(JSON.stringify(grains))).toEqual(grains)
})
