import { expect, test } from 'vitest'

import subject, { type Traces, virtual } from '../../../../../plugins/grains/_core/virtual.ts'
import { collectFrom } from '../context.ts'

const nothing: Traces = {
  firmware: '',
  product: '',
  cpuinfo: 'flags\t: fpu vme',
  clocksources: 'tsc hpet',
  hypervisor: '',
  container: '',
  cgroup: '0::/init.scope',
  chroot: false,
  openVz: '',
  xen: '',
}

test.each<[string, Partial<Traces>, object]>([
  ['a machine', {}, { virtual: 'physical' }],
  ['a Dell', { firmware: 'Dell Inc.\nPowerEdge R640\nDell Inc.' }, { virtual: 'physical' }],
  ['QEMU', { firmware: 'QEMU\nStandard PC\nSeaBIOS' }, { virtual: 'kvm' }],
  ['VMware', { firmware: 'VMware, Inc.\nVMware Virtual Platform' }, { virtual: 'VMware' }],
  ['VirtualBox', { firmware: 'innotek GmbH\nVirtualBox' }, { virtual: 'VirtualBox' }],
  ['Hyper-V', { firmware: 'Microsoft Corporation\nVirtual Machine' }, { virtual: 'VirtualPC' }],
  ['a Surface', { firmware: 'Microsoft Corporation\nSurface Pro' }, { virtual: 'physical' }],
  ['Google', { firmware: 'Google\nGoogle Compute Engine' }, { virtual: 'gce' }],
  [
    'EC2',
    { firmware: 'Amazon EC2\nm5.large', product: 'm5.large' },
    { virtual: 'Nitro', virtual_subtype: 'Amazon EC2 (m5.large)' },
  ],
  ['a micro VM', { clocksources: 'kvm-clock tsc' }, { virtual: 'kvm' }],
  ['an unknown hypervisor', { cpuinfo: 'flags\t: fpu hypervisor lahf' }, { virtual: 'virtual' }],
  ['Docker', { container: 'docker' }, { virtual: 'container', virtual_subtype: 'Docker' }],
  [
    'Docker on KVM',
    { firmware: 'QEMU', container: 'docker' },
    { virtual: 'container', virtual_subtype: 'Docker' },
  ],
  ['old Docker', { cgroup: '4:cpu:/docker/abc' }, { virtual: 'container', virtual_subtype: 'Docker' }],
  ['Podman', { container: 'podman' }, { virtual: 'container', virtual_subtype: 'Podman' }],
  ['LXC', { container: 'lxc' }, { virtual: 'container', virtual_subtype: 'LXC' }],
  [
    'Kubernetes',
    { cgroup: '0::/kubepods/besteffort' },
    { virtual: 'container', virtual_subtype: 'kubernetes' },
  ],
  ['User Mode Linux', { cpuinfo: 'model name\t: UML\nvendor_id\t: User Mode Linux' }, { virtual: 'uml' }],
  ['the host of Xen', { xen: 'Xen Dom0' }, { virtual: 'xen', virtual_subtype: 'Xen Dom0' }],
  ['the host of OpenVZ', { openVz: 'openvzhn' }, { virtual: 'openvzhn' }],
  ['a chroot', { chroot: true }, { virtual: 'virtual', virtual_subtype: 'chroot' }],
])('%s is recognised by its traces', (_, traces, expected) => {
  expect(virtual({ ...nothing, ...traces })).toEqual(expected)
})

test('this host has a value', async () => {
  const { grains, lines } = await collectFrom(subject)
  expect(lines).toEqual([])
  expect(grains.virtual).toEqual(expect.any(String))
})
