/** Grains of the hardware: processors, memory, firmware. */
import os from 'node:os'
import type { Source } from '../_facts/gather.ts'
import type { Host } from '../_facts/host.ts'
import { pairsIn } from '../_facts/pairs.ts'

const FIRMWARE: readonly (readonly [grain: string, file: string])[] = [
  ['biosversion', 'bios_version'],
  ['biosvendor', 'bios_vendor'],
  ['biosreleasedate', 'bios_date'],
  ['boardname', 'board_name'],
  ['productname', 'product_name'],
  ['manufacturer', 'sys_vendor'],
  ['serialnumber', 'product_serial'],
  ['uuid', 'product_uuid'],
]

const hardware: Source = (host) => ({
  processors: async () => ({
    cpuarch: os.machine(),
    ...processors(host.text('/proc/cpuinfo') ?? ''),
  }),
  memory: () => memory(host.text('/proc/meminfo') ?? ''),
  'the device tree': () => deviceTree(host),
  'the firmware': () => firmware(host),
  EFI: () => efi(host),
})
export default hardware

/** Return number, model and flags of the processors, from /proc/cpuinfo of x86, ARM, POWER and S/390. */
export function processors(cpuinfo: string): Record<string, unknown> {
  const found = { num_cpus: 0, cpu_model: 'Unknown', cpu_flags: [] as string[] }
  for (const line of cpuinfo.split('\n')) {
    const [key = '', value] = line.split(':').map((part) => part.trim())
    if (value === undefined) continue
    if (key === 'processor') found.num_cpus += 1
    else if (key === '# processors') found.num_cpus = Number(value)
    else if (key === 'Processor') Object.assign(found, { cpu_model: value.split('-')[0], num_cpus: 1 })
    else if (['vendor_id', 'model name', 'cpu'].includes(key)) found.cpu_model = value
    else if (['flags', 'Features'].includes(key)) found.cpu_flags = value.split(/\s+/).filter(Boolean)
  }
  return found
}

/** Return memory and swap in MiB. */
export function memory(meminfo: string): Record<string, number> {
  const pairs = pairsIn(meminfo, ':')
  const mib = (key: string) => Math.floor(Number.parseInt(pairs.get(key) ?? '0', 10) / 1024)
  return { mem_total: mib('MemTotal'), swap_total: mib('SwapTotal') }
}

// A file that is there and empty, such as a serial number that nobody has set, is a grain without text, as in Salt.
function firmware(host: Host): Record<string, unknown> {
  const values = FIRMWARE.map(([, file]) => host.text(`/sys/class/dmi/id/${file}`))
  const found = FIRMWARE.map(([grain], index) => [grain, values[index]?.trim()] as const)
  return Object.fromEntries(
    found.map(([grain, value]) => [grain, grain === 'uuid' ? value?.toLowerCase() : value]),
  )
}

// Boards without DMI have their model here, as `manufacturer,model`.
function deviceTree(host: Host): Record<string, unknown> {
  const [model, serial, system] = ['model', 'serial-number', 'system-id'].map((name) =>
    host.line(`/proc/device-tree/${name}`),
  )
  const [, manufacturer, productname = model] = /^([^,]*),(.*)$/.exec(model ?? '') ?? []
  return { manufacturer, productname, serialnumber: serial ?? system }
}

function efi(host: Host): Record<string, boolean> {
  const found = ['/sys/firmware/efi/efivars', '/sys/firmware/efi/vars'].map((folder) => ({
    exists: host.exists(folder),
    variables: host
      .names(folder)
      .filter((name) => name.startsWith('SecureBoot-'))
      .map((name) => `${folder}/${name}${folder.endsWith('/vars') ? '/data' : ''}`),
  }))
  const used = found.find(({ exists }) => exists)
  const state = used?.variables.length === 1 ? host.bytes(used.variables[0]!) : undefined
  return { efi: used !== undefined, 'efi-secure-boot': state?.at(-1) === 1 }
}
