/** Grains of storage: disks, RAIDs, volume groups, ZFS, and names in storage networks. */
import type { Source } from '../_facts/gather.ts'
import type { Host } from '../_facts/host.ts'

/** `disable_grains` switches these off by the names of Salt's files; those of storage networks are off by default. */
const storage: Source = (host, { opts }) => {
  const isOn = (name: string) => !(Array.isArray(opts.disable_grains) && opts.disable_grains.includes(name))
  return {
    ...(isOn('disks') && { disks: () => disks(host) }),
    ...(isOn('mdadm') && { RAIDs: () => ({ mdadm: raids(host.text('/proc/mdstat')) }) }),
    ...(isOn('lvm') && { LVM: async (signal) => ({ lvm: await volumeGroups(host, signal) }) }),
    ...(isOn('zfs') && { ZFS: (signal) => zfs(host, signal) }),
    ...(opts.iscsi_grains === true && { iSCSI: () => ({ iscsi_iqn: initiators(host) }) }),
    ...(opts.fibre_channel_grains === true && {
      'Fibre Channel': () => ({ fc_wwn: ports(host) }),
    }),
    ...(opts.nvme_grains === true && { NVMe: () => ({ nvme_nqn: nvmeNames(host) }) }),
  }
}
export default storage

function disks(host: Host): Record<string, string[]> {
  const names = host.names('/sys/block')
  const kinds = names.map((name) => kindOfDisk(host, name))
  const of = (kind: string) => names.filter((_, index) => kinds[index] === kind)
  return { disks: of('1'), ssds: of('0') }
}

function kindOfDisk(host: Host, name: string): string | undefined {
  const isVirtual = host.link(`/sys/block/${name}`).startsWith('../devices/virtual/')
  return isVirtual ? undefined : host.line(`/sys/block/${name}/queue/rotational`)
}

/** Return the names of the arrays in /proc/mdstat; undefined where the kernel has no RAIDs. */
export function raids(mdstat: string | undefined): string[] | undefined {
  const lines = mdstat?.split('\n').filter((line) => !/^(Personalities : |unused devices:)/.test(line))
  const names = lines?.flatMap((line) => (line.includes(' : ') ? [line.split(' : ')[0]!] : []))
  return names && [...new Set(names)].sort()
}

async function volumeGroups(host: Host, signal: AbortSignal): Promise<Record<string, string[]> | undefined> {
  const lvm = await host.program('lvm')
  if (lvm === undefined) return undefined
  const list = async (command: string, fields: string) =>
    (await host.run([lvm, command, '--noheadings', '-o', fields], signal))
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([name]) => name)
  const [groups, volumes] = await Promise.all([list('vgs', 'vg_name'), list('lvs', 'vg_name,lv_name')])
  return Object.fromEntries(
    groups.map(([group]) => [group, volumes.filter(([owner]) => owner === group).map(([, name]) => name!)]),
  )
}

async function zfs(host: Host, signal: AbortSignal): Promise<Record<string, unknown>> {
  const zfs_feature_flags = hasFeatureFlags(host)
  const isThere = host.exists('/sys/module/zfs') || (await host.program('zfs-fuse')) !== undefined
  const zpool = isThere ? await host.program('zpool') : undefined
  if (zpool === undefined) return { zfs_support: false, zfs_feature_flags }
  const list = await host.run([zpool, 'list', '-H', '-o', 'name,size'], signal)
  return { zfs_support: true, zfs_feature_flags, zpool: pools(list) }
}

/** Return the sizes of pools in bytes; undefined if there are none. */
export function pools(list: string): Record<string, number | string> | undefined {
  const lines = list.split('\n').filter(Boolean)
  if (lines.length === 0) return undefined
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', size = ''] = line.split(/\s+/)
      const [, number, unit] = /^([\d.]+)([KMGTPEZY])B?$/i.exec(size) ?? []
      if (number === undefined || unit === undefined) return [name, size]
      return [name, Math.trunc(Number(number) * 1024 ** (1 + 'KMGTPEZY'.indexOf(unit.toUpperCase())))]
    }),
  )
}

/** Whether the manual page of the feature flags is installed; Salt asks `man` the same. */
function hasFeatureFlags(host: Host): boolean {
  const manuals = ['5', '7'].flatMap((section) => {
    const path = `/usr/share/man/man${section}/zpool-features.${section}`
    return [path, `${path}.gz`]
  })
  return manuals.some((path) => host.exists(path))
}

function initiators(host: Host): string[] {
  return valuesAfter('InitiatorName=', host.text('/etc/iscsi/initiatorname.iscsi'))
}

/** Return the names of the ports, without `0x`. */
function ports(host: Host): string[] {
  const hosts = host.names('/sys/class/fc_host')
  const names = hosts.map((name) => host.line(`/sys/class/fc_host/${name}/port_name`))
  return names.flatMap((name) => (name === undefined ? [] : [name.slice(2)]))
}

function nvmeNames(host: Host): string[] {
  return valuesAfter('nqn.', host.text('/etc/nvme/hostnqn')).map((name) => `nqn.${name}`)
}

const valuesAfter = (prefix: string, text = ''): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith(prefix))
    .map((line) => line.slice(prefix.length))
