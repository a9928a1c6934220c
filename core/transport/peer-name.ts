import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { messageOf, SaltError } from '../base/errors.ts'
import type { ClientSettings } from './contract.ts'

/**
 * Check that the host name resolves. For one that does not, a connection would be tried forever.
 * @throws SaltError MASTER_UNREACHABLE if it does not
 */
export async function checkPeerName({
  host,
  ipv6 = false,
}: Pick<ClientSettings, 'host' | 'ipv6'>): Promise<void> {
  const family = isIP(host)
  if (family === 4 || (family === 6 && ipv6)) return
  if (family === 6) throw unusable(host, 'is an IPv6 address, and IPv6 is off. Set ipv6: true')
  const problem = await unknown(host, ipv6 ? 0 : 4)
  if (problem === undefined) return
  if (!ipv6 && (await unknown(host, 6)) === undefined)
    throw unusable(host, 'has IPv6 addresses only, and IPv6 is off. Set ipv6: true')
  throw unusable(
    host,
    `cannot be resolved (${problem}). Check the name, and the name service of this host`,
    true,
  )
}

const unusable = (host: string, what: string, unresolved = false): SaltError =>
  new SaltError('MASTER_UNREACHABLE', `The master ${host} ${what}.`, { host, unresolved })

/** Whether a request failed because the name of the master does not resolve. */
export const wasUnresolved = (error: unknown): boolean =>
  SaltError.is(error) && error.data.unresolved === true

/** Return why the host has no address of this family; undefined if it has one. */
async function unknown(host: string, family: 0 | 4 | 6): Promise<string | undefined> {
  try {
    await lookup(host, { family })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
