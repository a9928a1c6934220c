import { readRegularFile } from '../base/files/regular-file.ts'
import { isRecord } from '../base/record.ts'
import { connectedElsewhereFile, connectedFile } from '../config/cachedir.ts'
import type { MasterConfig } from '../config/index.ts'

/**
 * The list of connected minions is written at least every 5 s: a minion or syndic that started less than this before counts as connected.
 * Milliseconds.
 */
export const UNLISTED_MS = 10_000

/**
 * Connections of minions to the publisher. A minion of Python Salt is identified by the addresses in its grains. If it connects
 * from another address, it is in neither list.
 */
export interface Connections {
  readonly present: readonly string[]
  /** Accepted minions that were connected and no longer are, also those of earlier runs of the master. */
  readonly lost: readonly string[]
  /** Lost minions that are expected back: their connection was lost in the last 40 s, or when the previous run ended. */
  readonly reconnecting?: readonly string[]
  /** Tokens of the connected runs of each minion, with `refuse_second_minion`. */
  readonly runs?: Readonly<Record<string, readonly string[]>>
}

/** Read the connections that the publisher last wrote; undefined if no master has run on this host, or the file is damaged. */
export async function connections(config: MasterConfig): Promise<Connections | undefined> {
  try {
    const { present, lost, ...others } = JSON.parse((await readRegularFile(connectedFile(config))) ?? '')
    return Array.isArray(present) && Array.isArray(lost) ? { present, lost, ...others } : undefined
  } catch {
    return undefined
  }
}

/** Return which of these minions have lost their connection, and which of them are expected to reconnect. */
export async function lostAmong(
  ids: ReadonlySet<string>,
  config: MasterConfig,
): Promise<Required<Pick<Connections, 'lost' | 'reconnecting'>>> {
  const { lost = [], reconnecting = [] } = (await connections(config)) ?? {}
  return { lost: lost.filter((id) => ids.has(id)), reconnecting: reconnecting.filter((id) => ids.has(id)) }
}

/** What the other masters of a cluster said of their connections, by their names, and when it was heard, in milliseconds since 1970. */
export type ConnectedElsewhere = Readonly<Record<string, { readonly said: unknown; readonly heard: number }>>

/** Time without a report after which a master of the cluster, and the minions that were connected to it, count as gone. */
const GONE_MS = 45_000

/** Read what the other masters of a cluster said. */
export async function connectedElsewhere(config: MasterConfig): Promise<ConnectedElsewhere> {
  try {
    const found: unknown = JSON.parse((await readRegularFile(connectedElsewhereFile(config))) ?? '')
    return isRecord(found) ? (found as ConnectedElsewhere) : {}
  } catch {
    return {}
  }
}

/** Return the ids that are connected to a master of this one's cluster, or to this master alone. */
export async function connectedToCluster(config: MasterConfig): Promise<string[]> {
  const ids = new Set(await connectedIds(config))
  if (config.cluster_id === undefined) return [...ids]
  for (const { said, heard } of Object.values(await connectedElsewhere(config)))
    if (Date.now() - heard < GONE_MS && isRecord(said) && Array.isArray(said.ids))
      for (const id of said.ids) ids.add(String(id))
  return [...ids].sort()
}

/** Return the ids that are connected to the publish port; undefined if that is unknown. */
export async function connectedIds(config: MasterConfig): Promise<readonly string[] | undefined> {
  return (await connections(config))?.present
}
