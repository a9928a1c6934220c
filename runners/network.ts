/** Wake computers from the master's host. */
import { readFile } from 'node:fs/promises'
import { CommandExecutionError, fn, p } from 'salt-ts'
import { wake } from '../modules/_host/reach.ts'
import { tgt, tgt_type } from './_target.ts'

const way = {
  bcast: p.default(p.string(), '255.255.255.255'),
  destport: p.default(p.integer({ minimum: 1, maximum: 65_535 }), 9),
}

/**
 * Send the packet that wakes a computer by its hardware address.
 *
 * @example salt-run network.wol 08-00-27-13-69-77
 * @example salt-run network.wol 080027136977 255.255.255.255 7
 */
export const wol = fn({ mac: p.string(), ...way }, async ({ mac, bcast, destport }) => {
  await wake(mac, bcast, destport)
  return true
})

/**
 * Wake the computers of a file on the master's host that has one hardware address in each line. Returns the addresses.
 *
 * @example salt-run network.wollist /etc/salt/computers
 */
export const wollist = fn({ maclist: p.string(), ...way }, async ({ maclist, bcast, destport }) => {
  const text = await readFile(maclist, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandExecutionError(`Cannot read the list of hardware addresses ${maclist}: ${error.code}`)
  })
  return wakeAll(text.split('\n'), bcast, destport)
})

/**
 * Wake the computers of minions, by the hardware addresses in their cached grains. Returns the addresses.
 *
 * @example salt-run network.wolmatch 'web*'
 * @example salt-run network.wolmatch 192.168.0.0/16 tgt_type=ipcidr bcast=192.168.255.255 destport=7
 */
export const wolmatch = fn(
  { tgt, tgt_type, ...way },
  async ({ tgt, tgt_type, bcast, destport }, { master }) => {
    const { minions } = await master.match(tgt, tgt_type)
    const grains = await Promise.all(minions.map((id) => master.cachedGrains(id)))
    return wakeAll(grains.flatMap(addressesIn), bcast, destport)
  },
)

async function wakeAll(given: readonly string[], bcast: string, destport: number): Promise<string[]> {
  const addresses = given.map((address) => address.trim()).filter(Boolean)
  for (const address of addresses) await wake(address, bcast, destport)
  return addresses
}

function addressesIn(grains: Readonly<Record<string, unknown>> | undefined): string[] {
  const interfaces = Object.entries(grains?.hwaddr_interfaces ?? {})
  return interfaces.filter(([name]) => name !== 'lo').map(([, address]) => String(address))
}
