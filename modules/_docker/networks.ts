import { CommandExecutionError, type Context } from 'salt-ts'
import { problem } from '../_pkg/changes.ts'
import { address, DockerRefusal, docker, dockerJson, type Json } from './api.ts'

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
