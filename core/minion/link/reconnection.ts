import type { MinionConfig } from '../../config/index.ts'
import type { SubscribeSettings } from '../../transport/contract.ts'

/** Salt's defaults of `recon_default` and `recon_max`. */
const DEFAULT_MS = 1_000
const MAX_MS = 10_000
/** Shortest time after which the publish port is looked up again. */
const MIN_PORT_CHECK_MS = 500
/** Limits of what a master may ask for. */
const MIN_SPREAD_MS = 100
const MAX_SPREAD_MS = 60_000

type Waits = Required<Pick<SubscribeSettings, 'reconnectMs' | 'reconnectMaxMs'>>
type ReconnectOptions = Pick<MinionConfig, 'recon_default' | 'recon_max' | 'recon_randomize'>

/**
 * Return how long to wait before reconnections to the publish port. `spreadMs` is the time over which the master wants its
 * minions to spread: each tries once or more in any such time, at moments of its own. Options that are set win, and Salt's
 * defaults apply if the master names no time.
 */
export function reconnectionWaits(options: ReconnectOptions, spreadMs: number | undefined): Waits {
  const { recon_default: first, recon_max: most, recon_randomize: isRandom } = options
  if (spreadMs === undefined || first !== undefined || most !== undefined || !isRandom) {
    const added = most ?? MAX_MS
    const wait = (first ?? DEFAULT_MS) + (isRandom ? Math.random() * added : 0)
    return { reconnectMs: Math.max(1, Math.round(wait)), reconnectMaxMs: added }
  }
  const spread = Math.min(Math.max(spreadMs, MIN_SPREAD_MS), MAX_SPREAD_MS)
  // The transport adds a random part of up to the same length to each wait.
  return { reconnectMs: Math.ceil(spread * (0.1 + 0.4 * Math.random())), reconnectMaxMs: 0 }
}

/** Milliseconds without a connection after which the master's publish port is looked up again. */
export const portCheckMs = ({ recon_max }: ReconnectOptions): number =>
  Math.max(MIN_PORT_CHECK_MS, 1.5 * (recon_max ?? MAX_MS))
