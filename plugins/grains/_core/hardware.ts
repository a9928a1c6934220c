/** Grains of the hardware: processors, memory, firmware, disks. */
import { readlink } from 'node:fs/promises'
import os from 'node:os'
import { grains } from 'salt-ts'
import { exists, lineOf, namesIn, pairsIn, textOf } from '../_facts/files.ts'
import { gather } from '../_facts/gather.ts'

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

export default grains({
  collect: ({ log }) =>
    gather(log, {
      processors: async () => ({
        cpuarch: os.machine(),
        ...processors((await textOf('/proc/cpuinfo')) ?? ''),
      }),
      memory: async () => memory((await textOf('/proc/meminfo')) ?? ''),
      'the device tree': deviceTree,
      firmware,
      disks,
      EFI: efi,
    }),
})

/** Return number, model and flags of the processors, from /proc/cpuinfo of x86, ARM, POWER and S/390. */
export function processors(cpuinfo: string): Record<string, unknown> {
  const pairs = pairsIn(cpuinfo, ':')
  const listed = cpuinfo.match(/^processor\s*:/gm)?.length ?? 0
  const names = ['model name', 'cpu', 'Processor', 'vendor_id']
  const flags = pairs.get('flags') ?? pairs.get('Features') ?? ''
  return {
    num_cpus: Number(/^# processors\s*:\s*(\d+)/m.exec(cpuinfo)?.[1] ?? listed),
    cpu_model: names.map((name) => pairs.get(name)).find(Boolean) ?? 'Unknown',
    cpu_flags: flags.split(' ').filter(Boolean),
  }
}

/** Return memory and swap in MiB. */
export function memory(meminfo: string): Record<string, number> {
  const pairs = pairsIn(meminfo, ':')
  const mib = (key: string) => Math.floor(Number.parseInt(pairs.get(key) ?? '0', 10) / 1024)
  return { mem_total: mib('MemTotal'), swap_total: mib('SwapTotal') }
}

async function firmware(): Promise<Record<string, unknown>> {
  const values = await Promise.all(FIRMWARE.map(([, file]) => lineOf(`/sys/class/dmi/id/${file}`)))
  const found = FIRMWARE.map(([grain], index) => [grain, values[index]] as const)
  return Object.fromEntries(
    found.map(([grain, value]) => [grain, grain === 'uuid' ? value?.toLowerCase() : value]),
  )
}

// Boards without DMI have their model here, as `manufacturer,model`.
async function deviceTree(): Promise<Record<string, unknown>> {
  const at = '/proc/device-tree'
  const [model, serial, system] = await Promise.all(
    ['model', 'serial-number', 'system-id'].map((name) => lineOf(`${at}/${name}`)),
  )
  const [, manufacturer, productname = model] = /^([^,]*),(.*)$/.exec(model ?? '') ?? []
  return { manufacturer, productname, serialnumber: serial ?? system }
}

async function disks(): Promise<Record<string, string[]>> {
  const names = await namesIn('/sys/block')
  const kinds = await Promise.all(names.map(kindOfDisk))
  const of = (kind: string) => names.filter((_, index) => kinds[index] === kind)
  return { disks: of('1'), ssds: of('0') }
}

async function kindOfDisk(name: string): Promise<string | undefined> {
  const device = await readlink(`/sys/block/${name}`).catch(() => '')
  return device.startsWith('../devices/virtual/') ? undefined : lineOf(`/sys/block/${name}/queue/rotational`)
}

async function efi(): Promise<Record<string, boolean>> {
  const variables = '/sys/firmware/efi/efivars'
  const name = (await namesIn(variables)).find((candidate) => candidate.startsWith('SecureBoot-'))
  const state = name === undefined ? undefined : await textOf(`${variables}/${name}`)
  return { efi: await exists('/sys/firmware/efi'), 'efi-secure-boot': state?.at(-1) === '\x01' }
}
