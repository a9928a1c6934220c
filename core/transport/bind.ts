import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { messageOf, SaltError } from '../base/errors.ts'
import type { ServerSettings } from './contract.ts'
import { addressInUse, findPortHolder } from './port-holder.ts'

/** How long to wait for a port of this process, since the port of a closed socket is freed in the background. */
const OWN_PORT_MS = 1_000

type Address = Pick<ServerSettings, 'host' | 'port'>

/**
 * Bind a port with `bind`, which gets an IP address or `*`, and rejects with a system error.
 * @throws SaltError ADDRESS_IN_USE (with the process that uses the port), PERMISSIONS or CONFIG_INVALID
 */
export async function bindPort(
  { host, port, ipv6 = false }: ServerSettings,
  bind: (address: Address) => Promise<unknown>,
): Promise<void> {
  try {
    await bindPatiently({ host: await resolveInterface(host, ipv6), port }, bind)
  } catch (error) {
    throw SaltError.is(error) ? error : bindError(error, host, port)
  }
}

async function bindPatiently(
  address: Address,
  bind: (address: Address) => Promise<unknown>,
): Promise<unknown> {
  const deadline = performance.now() + OWN_PORT_MS
  while (true) {
    try {
      return await bind(address)
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error
      const holder = await findPortHolder(address.port)
      const willBeFreed = !holder || holder.pid === process.pid
      if (!willBeFreed || performance.now() > deadline) throw addressInUse(address.host, address.port, holder)
      await setTimeout(25)
    }
  }
}

/** Resolve a host name, since sockets are bound to addresses. */
async function resolveInterface(host: string, ipv6: boolean): Promise<string> {
  if (isIP(host) === 6 && !ipv6) {
    throw new SaltError(
      'CONFIG_INVALID',
      `Cannot listen on ${host}: it is an IPv6 address, and IPv6 is off. Set ipv6: true, or another 'interface'.`,
      { host },
    )
  }
  if (host === '*' || isIP(host)) return host
  try {
    return (await lookup(host, { family: ipv6 ? 0 : 4 })).address
  } catch (error) {
    throw new SaltError(
      'CONFIG_INVALID',
      `Cannot listen on '${host}': the name is unknown (${messageOf(error)}); set 'interface' to an address of this machine.`,
      { host },
    )
  }
}

function bindError(error: unknown, host: string, port: number): SaltError {
  const facts = { host, port }
  if (codeOf(error) === 'EACCES') {
    return new SaltError(
      'PERMISSIONS',
      `This user may not listen on ${host}:${port}; use a port above 1023, or start as root.`,
      facts,
    )
  }
  const reason = messageOf(error)
  return new SaltError(
    'CONFIG_INVALID',
    `Cannot listen on ${host}:${port}: ${reason}. Set 'interface' to an address of this machine.`,
    facts,
    { cause: error },
  )
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown } | undefined)?.code
