import type { Context } from 'salt-ts'
import { address, docker, dockerJson, type Json } from './api.ts'

export const inspectNetwork = (id: string, context: Context): Promise<Json> =>
  dockerJson<Json>('GET', address(['networks', id]), context)

/** Connect a container to a network. */
export async function connect(
  container: string,
  network: string,
  options: Json,
  context: Context,
): Promise<true> {
  const { ipv4_address, ipv6_address, aliases, links } = options
  await docker('POST', address(['networks', network, 'connect']), context, {
    Container: container,
    EndpointConfig: {
      Aliases: aliases,
      Links: links,
      IPAMConfig: { IPv4Address: ipv4_address, IPv6Address: ipv6_address },
    },
  })
  return true
}
