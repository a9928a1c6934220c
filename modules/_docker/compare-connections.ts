/** Differences between the networks of two containers. */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from 'salt-ts'
import { messageOf } from '#internal'
import type { Json } from './api.ts'
import { type Differences, says, sorted } from './compare.ts'
import { inspect, stateOf } from './containers.ts'
import { inspectNetwork } from './networks.ts'

/** Which keys of a network are compared, by `docker.compare_container_networks` of the configuration. */
interface Keys {
  readonly static?: readonly string[]
  /** Keys that say which addresses Docker chose, where one side has none of its own. */
  readonly automatic?: readonly string[]
}

interface Side {
  /** Names that a container always has in its networks: its host name, and the beginning of its id. */
  readonly names: readonly string[]
  readonly hostname: unknown
  readonly networks: Record<string, Json>
}

/** Compare the networks of two containers, of which running ones count only where they are connected. */
export async function compareConnections(
  [first, second]: readonly [string, string],
  context: Context,
): Promise<Record<string, Differences>> {
  const keys = (await context.call('config.option', { value: 'docker.compare_container_networks' })) as Keys
  const [old, now] = [await sideOf(first, context), await sideOf(second, context)]
  const found: Record<string, Differences> = {}
  for (const network of new Set([...Object.keys(old.networks), ...Object.keys(now.networks)])) {
    const differences = compareNetwork(network, old, now, keys)
    if (Object.keys(differences).length > 0) found[network] = differences
  }
  return found
}

async function sideOf(name: string, context: Context): Promise<Side> {
  const container = await inspect(name, context)
  const isRunning = (await stateOf(name, context)) === 'running'
  const { NetworkSettings, Config, Id } = container as {
    NetworkSettings?: { Networks?: Record<string, Json> | null }
    Config?: { Hostname?: string }
    Id?: string
  }
  const networks: Record<string, Json> = {}
  for (const [network, facts] of Object.entries(NetworkSettings?.Networks ?? {})) {
    // Docker also lists a network to which a container could not be connected.
    if (!isRunning || (await isConnected(String(Id), network, context))) networks[network] = facts
  }
  const names = [Config?.Hostname ?? '', String(Id).slice(0, 12)]
  return { names, hostname: Config?.Hostname, networks }
}

async function isConnected(id: string, network: string, context: Context): Promise<boolean> {
  try {
    const { Containers } = await inspectNetwork(network, context)
    return Object.hasOwn((Containers as Json | null) ?? {}, id)
  } catch (error) {
    context.log.warn(`Failed to inspect Docker network ${network}: ${messageOf(error)}`)
    return true
  }
}

function compareNetwork(network: string, first: Side, second: Side, keys: Keys): Differences {
  const [old, now] = [first.networks[network], second.networks[network]]
  const found: Differences = {}
  for (const key of keys.static ?? []) {
    if (key === 'IPAMConfig') {
      Object.assign(found, compareAddresses(old, now, keys.automatic ?? []))
      continue
    }
    const isShared = old !== undefined && now !== undefined
    const before = plain(old?.[key], key, isShared ? first.names : [first.hostname])
    const after = plain(now?.[key], key, isShared ? second.names : [second.hostname])
    if (!says(before) && !says(after)) continue
    const values = isShared ? [sorted(before), sorted(after)] : [before, after]
    if (!isDeepStrictEqual(values[0], values[1]))
      found[key] = { old: values[0] ?? null, new: values[1] ?? null }
  }
  return found
}

/** Return aliases without those that each container has, and other values as they are. */
function plain(value: unknown, key: string, names: readonly unknown[]): unknown {
  if (key !== 'Aliases' || !Array.isArray(value)) return value
  const own = value.filter((alias) => !names.includes(alias))
  return own.length > 0 ? own : null
}

/** Compare addresses: those that were chosen for a container, and those that Docker chose, if one side has none chosen. */
function compareAddresses(
  old: Json | undefined,
  now: Json | undefined,
  automatic: readonly string[],
): Differences {
  const [before, after] = [old?.IPAMConfig, now?.IPAMConfig]
  const [isOldAutomatic, isNewAutomatic] = [old && !says(before), now && !says(after)]
  if (old && isOldAutomatic && !isNewAutomatic) {
    const lost = addresses(old, automatic, (value) => ({ old: value, new: null }))
    const to = now ? 'static' : 'not connected'
    return {
      ...(says(lost) ? lost : { IPConfiguration: { old: 'automatic', new: to } }),
      ...(now && { IPAMConfig: { old: null, new: after } }),
    }
  }
  if (now && isNewAutomatic && !isOldAutomatic) {
    const gained = addresses(now, automatic, (value) => ({ old: null, new: value }))
    const from = old ? 'static' : 'not connected'
    return {
      ...(says(gained) ? gained : { IPConfiguration: { old: from, new: 'automatic' } }),
      ...(old && { IPAMConfig: { old: before, new: null } }),
    }
  }
  if (isDeepStrictEqual(before ?? null, after ?? null)) return {}
  return { IPAMConfig: { old: before ?? null, new: after ?? null } }
}

const addresses = (
  network: Json,
  keys: readonly string[],
  differs: (value: unknown) => { old: unknown; new: unknown },
): Differences =>
  Object.fromEntries(keys.filter((key) => network[key]).map((key) => [key, differs(network[key])]))
