/** The graphics processors and accelerators on the PCI bus. */
import type { Source } from '../_facts/gather.ts'
import type { Host } from '../_facts/host.ts'

export interface PciDevice {
  /** Six hex digits: class, subclass, interface. */
  readonly class: string
  /** Four hex digits, like `device`. */
  readonly vendor: string
  readonly device: string
}

export interface Gpu {
  /** One of Salt's short names, or `unknown`. */
  readonly vendor: string
  readonly model: string
}

/** VGA compatible, 3D and display controllers, and processing accelerators, as Salt counts them. */
const GPU = /^(0300|0302|0380|1200)/
const VENDORS = ['nvidia', 'amd', 'ati', 'intel', 'cirrus logic', 'vmware', 'matrox', 'aspeed']
const DEVICES = '/sys/bus/pci/devices'
const NAMES = ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids', '/usr/share/pci.ids']

const source: Source = (host, { opts }) => ({
  'graphics processors': () => {
    if (opts.enable_gpu_grains === false || opts.enable_lspci === false) return { num_gpus: 0, gpus: [] }
    const found = pciDevices(host).filter(isGpu)
    const gpus = named(found, found.length > 0 ? pciNames(host) : '')
    return { num_gpus: gpus.length, gpus }
  },
})
export default source

function pciDevices(host: Host): PciDevice[] {
  return host.names(DEVICES).map((slot) => {
    const read = (fact: string) => host.line(`${DEVICES}/${slot}/${fact}`)?.slice(2) ?? ''
    return { class: read('class'), vendor: read('vendor'), device: read('device') }
  })
}

function pciNames(host: Host): string {
  for (const path of NAMES) {
    const text = host.text(path)
    if (text !== undefined) return text
  }
  return ''
}

export const isGpu = (device: PciDevice): boolean => GPU.test(device.class)

/** Name the devices as `lspci` does, from the text of its `pci.ids`; `Device 1eb8` if it has no name there. */
export function named(devices: readonly PciDevice[], names: string): Gpu[] {
  return devices.map(({ vendor, device }) => {
    const at = names.search(new RegExp(`^${vendor}  `, 'm'))
    const [head = '', ...rest] =
      at < 0
        ? []
        : names
            .slice(at)
            .split(/\n(?=[0-9a-fA-F])/, 1)[0]!
            .split('\n')
    const model = rest.find((line) => line.startsWith(`\t${device}  `))?.slice(7)
    const words = head
      .slice(6)
      .toLowerCase()
      .split(/[^a-z0-9]/)
    return {
      vendor: VENDORS.find((name) => words.includes(name)) ?? 'unknown',
      model: model ?? `Device ${device}`,
    }
  })
}
