import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { problem } from '../_pkg/changes.ts'
import { address, DockerRefusal, docker, dockerJson, type Json } from './api.ts'
import { labels } from './container-config.ts'

export const inspectNetwork = (id: string, context: Context): Promise<Json> =>
  dockerJson<Json>('GET', address(['networks', id]), context)

const POOL = ['subnet', 'gateway', 'ip_range', 'iprange', 'aux_addresses'] as const

/** Make a network whose options have Salt's names. @throws SaltInvocationError */
export function createNetwork(name: string, given: Json, context: Context): Promise<Json> {
  const alone = POOL.filter((key) => given[key] !== undefined)
  if (given.ipam_pools && alone.length > 0)
    throw new SaltInvocationError(`Give ${alone.join(', ')} in a map of ipam_pools, or without ipam_pools.`)
  const pools = (given.ipam_pools as Json[] | undefined) ?? (alone.length > 0 ? [given] : [])
  return dockerJson<Json>('POST', '/networks/create', context, {
    Name: name,
    Driver: given.driver,
    Internal: given.internal,
    Attachable: given.attachable,
    Ingress: given.ingress,
    Scope: given.scope,
    EnableIPv6: given.enable_ipv6,
    Options: optional(given.driver_opts),
    Labels: optional(given.labels),
    CheckDuplicate: given.check_duplicate,
    IPAM: {
      Driver: given.ipam_driver,
      Options: optional(given.ipam_opts),
      ...(pools.length > 0 && { Config: pools.map(poolOf) }),
    },
  })
}

const optional = (value: unknown): Json | undefined => (value === undefined ? undefined : labels(value))

function poolOf({ subnet, gateway, ip_range, iprange = ip_range, ...rest }: Json): Json {
  const { aux_address, aux_addresses = aux_address } = rest
  return {
    Subnet: subnet,
    IPRange: iprange,
    Gateway: gateway,
    AuxiliaryAddresses: optional(aux_addresses),
  }
}

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

/** Return the containers that are connected to a network, by name. */
export async function connectedTo(network: string, context: Context): Promise<Record<string, Json>> {
  const { Containers } = await inspectNetwork(network, context)
  const found = Object.entries((Containers as Record<string, Json> | null) ?? {})
  return Object.fromEntries(
    found.flatMap(([Id, { Name, ...facts }]) =>
      Name === undefined ? [] : [[String(Name), { ...facts, Id }]],
    ),
  )
}

/** Disconnect a container from a network. */
export async function disconnect(container: string, network: string, context: Context): Promise<true> {
  const path = address(['networks', network, 'disconnect'])
  await docker('POST', path, context, { Container: container })
  return true
}

/** Disconnect all containers from a network, and return their names. One that is gone by then is left out. */
export async function disconnectAll(network: string, context: Context): Promise<string[]> {
  const removed: string[] = []
  const errors: string[] = []
  for (const container of Object.keys(await connectedTo(network, context))) {
    try {
      await disconnect(container, network, context)
      removed.push(container)
    } catch (error) {
      if (!(error instanceof CommandExecutionError)) throw error
      if (!(error instanceof DockerRefusal && error.status === 404)) errors.push(error.message)
    }
  }
  if (errors.length === 0) return removed
  throw problem('One or more containers failed to be removed', { removed, errors })
}
