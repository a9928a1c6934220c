/** Grains that tell physical machines, virtual machines and containers apart. */
import { stat } from 'node:fs/promises'
import type { Source } from '../_facts/gather.ts'
import type { Host } from '../_facts/host.ts'
import { hypervisorOfXen, kindOfOpenVz, kindOfXen } from '../_virtual/hypervisors.ts'

/** Facts by which a virtual machine or a container is recognized. */
export interface Traces {
  /** Vendor, product and BIOS vendor from the firmware. */
  readonly firmware: string
  readonly product: string
  readonly cpuinfo: string
  readonly clocksources: string
  readonly hypervisor: string
  /** From /run/systemd/container, a marker file, or `container=` in the environment of process 1. */
  readonly container: string
  readonly cgroup: string
  readonly chroot: boolean
  /** The grain `virtual` that OpenVZ has, or nothing. */
  readonly openVz: string
  /** What this is to Xen, such as `Xen Dom0`, or nothing. */
  readonly xen: string
}

const source: Source = (host) => ({
  virtualisation: async () => {
    const found = virtual(await readTraces(host))
    return { ...found, ...(found.virtual === 'xen' && hypervisorOfXen(host)) }
  },
})
export default source

const BY_FIRMWARE: readonly (readonly [pattern: RegExp, virtual: string, subtype?: string])[] = [
  [/RHEV Hypervisor/, 'kvm', 'rhev'],
  [/oVirt/, 'kvm', 'ovirt'],
  [/VirtualBox|innotek/i, 'VirtualBox'],
  [/VMware/, 'VMware'],
  [/Microsoft Corporation.*Virtual Machine/s, 'VirtualPC'],
  [/Parallels/, 'Parallels'],
  [/BHYVE/, 'bhyve'],
  [/Google/, 'gce'],
  [/Xen/, 'xen'],
  [/QEMU|Bochs|KVM|SeaBIOS|OpenStack|Alibaba/, 'kvm'],
]

const CONTAINERS: readonly (readonly [pattern: RegExp, virtual: string, subtype?: string])[] = [
  [/lxc/, 'container', 'LXC'],
  [/podman|libpod/, 'container', 'Podman'],
  [/docker/, 'container', 'Docker'],
  [/systemd-nspawn/, 'systemd-nspawn'],
]

/** Return the grains `virtual` and `virtual_subtype`. A container takes precedence over the machine it runs on. */
export function virtual(traces: Traces): { virtual: string; virtual_subtype?: string } {
  const container = CONTAINERS.find(([pattern]) => pattern.test(traces.container || traces.cgroup))
  if (container) return answer(container[1], container[2])
  if (/kubepods/.test(traces.cgroup)) return answer('container', 'kubernetes')
  if (traces.openVz) return answer(traces.openVz)
  if (/Amazon EC2/.test(traces.firmware)) return amazon(traces)
  if (traces.xen) return answer('xen', traces.xen)
  const known = BY_FIRMWARE.find(([pattern]) => pattern.test(traces.firmware))
  const machine = known ? answer(known[1], known[2]) : answer(unnamed(traces))
  if (!traces.chroot) return machine
  return answer(machine.virtual === 'physical' ? 'virtual' : machine.virtual, 'chroot')
}

const answer = (kind: string, subtype?: string) => ({
  virtual: kind,
  ...(subtype && { virtual_subtype: subtype }),
})

function amazon({ product, hypervisor }: Traces) {
  const subtype = product ? `Amazon EC2 (${product})` : 'Amazon EC2'
  return answer(hypervisor === 'xen' ? 'xen' : 'Nitro', subtype)
}

// Small hypervisors have no firmware, but the processor and the kernel's clock source reveal them.
function unnamed({ cpuinfo, clocksources, hypervisor }: Traces): string {
  if (hypervisor === 'xen') return 'xen'
  if (/User Mode Linux/.test(cpuinfo)) return 'uml'
  if (/QEMU Virtual CPU/.test(cpuinfo) || /kvm-clock/.test(clocksources)) return 'kvm'
  if (/hyperv/.test(clocksources)) return 'VirtualPC'
  return /^flags\s*:.*\bhypervisor\b/m.test(cpuinfo) ? 'virtual' : 'physical'
}

async function readTraces(host: Host): Promise<Traces> {
  const [vendor, product, bios, cpuinfo, clocksources, hypervisor, cgroup] = [
    host.line('/sys/class/dmi/id/sys_vendor'),
    host.line('/sys/class/dmi/id/product_name'),
    host.line('/sys/class/dmi/id/bios_vendor'),
    host.text('/proc/cpuinfo'),
    host.line('/sys/devices/system/clocksource/clocksource0/available_clocksource'),
    host.line('/sys/hypervisor/type'),
    host.text('/proc/1/cgroup'),
  ]
  const [container, chroot, openVz, xen] = await Promise.all([
    containerMarker(host),
    isChroot(host),
    kindOfOpenVz(host),
    kindOfXen(host, product),
  ])
  const firmware = [vendor, product, bios].filter(Boolean).join('\n')
  const texts = { cpuinfo, clocksources, hypervisor, cgroup, product }
  const filled = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, text ?? '']))
  return { ...(filled as Record<keyof typeof texts, string>), firmware, container, chroot, openVz, xen }
}

function containerMarker(host: Host): string {
  const named = host.line('/run/systemd/container')
  if (named) return named
  if (host.exists('/run/.containerenv')) return 'podman'
  if (host.exists('/.dockerenv')) return 'docker'
  const environ = host.text('/proc/1/environ')?.split('\0') ?? []
  return environ.find((pair) => pair.startsWith('container='))?.slice('container='.length) ?? ''
}

async function isChroot(host: Host): Promise<boolean> {
  const [own, first] = await Promise.all(
    ['/', '/proc/1/root/.'].map((path) => stat(host.at(path)).catch(() => undefined)),
  )
  return own !== undefined && first !== undefined && (own.dev !== first.dev || own.ino !== first.ino)
}
