import type { Host } from '../_facts/host.ts'

/** Return the grain `virtual` of OpenVZ: its host node or one of its containers; nothing for another system. */
export function kindOfOpenVz(host: Host): string {
  const [isNode, isContainer, status] = [
    host.exists('/proc/vz/version'),
    host.exists('/proc/vz/veinfo'),
    host.text('/proc/self/status'),
  ]
  const id = /^envID:\s+(\d+)$/m.exec(status ?? '')?.[1]
  if (id !== undefined) return Number(id) === 0 ? 'openvzhn' : 'openvzve'
  if (isNode) return 'openvzhn'
  return isContainer ? 'openvzve' : ''
}

/** Return the grain `virtual_subtype` of Xen; nothing for another system. */
export function kindOfXen(host: Host, product: string | undefined): string {
  const traces = ['/proc/sys/xen', '/sys/bus/xen', '/proc/xen', '/proc/xen/xsd_kva']
  const [inSys, onBus, inProc, isDom0] = traces.map((path) => host.exists(path))
  if (!inSys && !onBus && !inProc) return ''
  if (isDom0) return 'Xen Dom0'
  if (product === 'HVM domU') return 'Xen HVM DomU'
  const capabilities = host.text('/proc/xen/capabilities')
  if (capabilities !== undefined) return capabilities.includes('control_d') ? 'Xen Dom0' : 'Xen PV DomU'
  return host.exists('/sys/bus/xen/drivers/xenconsole') ? 'Xen PV DomU' : ''
}

/** Names of the bits of /sys/hypervisor/properties/features. */
const XEN_FEATURES: readonly (string | undefined)[] = [
  'writable_page_tables',
  'writable_descriptor_tables',
  'auto_translated_physmap',
  'supervisor_mode_kernel',
  'pae_pgdir_above_4gb',
  'mmu_pt_update_preserve_ad',
  undefined,
  'gnttab_map_avail_bits',
  'hvm_callback_vector',
  'hvm_safe_pvclock',
  'hvm_pirqs',
  'dom0',
  'grant_map_identity',
  'memory_op_vnode_supported',
  'ARM_SMCCC_supported',
]

/** Return version and features of a Xen hypervisor. */
export function hypervisorOfXen(host: Host): Record<string, unknown> {
  const at = '/sys/hypervisor'
  const [major, minor, extra = ''] = ['major', 'minor', 'extra'].map((part) =>
    host.line(`${at}/version/${part}`),
  )
  const features = host.line(`${at}/properties/features`)
  const bits = Number.parseInt(features ?? '0', 16)
  return {
    ...(major !== undefined &&
      minor !== undefined && {
        virtual_hv_version: `${major}.${minor}${extra}`,
        virtual_hv_version_info: [major, minor, extra],
      }),
    ...(features !== undefined && {
      virtual_hv_features: features,
      virtual_hv_features_list: XEN_FEATURES.filter((name, bit) => name !== undefined && bits & (1 << bit)),
    }),
  }
}
