import { crc32 } from 'node:zlib'
import type { MinionConfig } from '../../config/index.ts'
import type { FailoverTimes } from './failover.ts'
import { type MasterAddress, masterAddresses } from './master-addresses.ts'

type Options = Pick<
  MinionConfig,
  'id' | 'master_type' | 'random_master' | 'master_shuffle' | 'master_failback'
>

/** Whether a minion has one master at a time, though several are configured. */
export const choosesOne = ({ master_type }: Pick<MinionConfig, 'master_type'>): boolean =>
  master_type === 'failover' || master_type === 'distributed'

/** Return the masters of a minion in the order in which they are used; none with `master_type: disable`. */
export const mastersInOrder = (config: MinionConfig): MasterAddress[] =>
  config.master_type === 'disable' ? [] : inOrder(masterAddresses(config), config)

/**
 * Put masters into the order in which they are tried, as Salt does: `distributed` begins with one that the id determines, so that
 * minions spread; `random_master` shuffles them, all but the first with `master_failback`.
 */
export function inOrder<T>(masters: readonly T[], options: Options, random: () => number = Math.random): T[] {
  if (!choosesOne(options)) return [...masters]
  const startIndex = options.master_type === 'distributed' ? crc32(options.id) % masters.length : 0
  const first = masters.slice(startIndex, startIndex + 1)
  const others = masters.filter((_, index) => index !== startIndex)
  if (!options.random_master && !options.master_shuffle) return [...first, ...others]
  if (options.master_failback) return [...first, ...shuffled(others, random)]
  return shuffled([...first, ...others], random)
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}

/** How long a lost master may take to come back, without `master_alive_interval`. */
const GRACE_MS = 3_000
/** Time that the connection to the publish port may take after the sign-in. */
const CONNECT_MS = 3_000
const PAUSE_MS = 2_000
/** How often the first master is tried, without an interval in the configuration. */
const FAILBACK_MS = 30_000

export function failoverTimes({
  auth_timeout,
  master_alive_interval: alive,
  master_failback,
  master_failback_interval: interval,
}: MinionConfig): FailoverTimes {
  const failbackMs = 1000 * (interval || alive) || FAILBACK_MS
  return {
    tryMs: auth_timeout * 1000 + CONNECT_MS,
    graceMs: alive > 0 ? alive * 1000 : GRACE_MS,
    pauseMs: PAUSE_MS,
    failbackMs: master_failback ? failbackMs : 0,
  }
}
