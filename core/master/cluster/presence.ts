import { isRecord } from '../../base/record.ts'
import { type ConnectedElsewhere, connections } from '../../cache/connected.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { Replicated } from './replica.ts'

/** Interval at which a master repeats which minions are connected to it, while that does not change. */
const BEAT_MS = 20_000

export interface PresenceSettings {
  readonly config: MasterConfig
  /** Name of this master. */
  readonly master: string
  /** The reports of the other masters so far. */
  readonly others: ConnectedElsewhere
  /** Return milliseconds since 1970. */
  now(): number
  /** Store the reports of the other masters. */
  keep(others: ConnectedElsewhere): Promise<void>
}

/**
 * The minions that are connected to each master, by the master's name. Used where a minion is connected to some of the masters
 * only.
 */
export function replicatedPresence({ config, master, others, now, keep }: PresenceSettings): Replicated {
  const heard = new Map(Object.entries(others))
  let own: { readonly ids: readonly string[]; readonly at: number } | undefined
  return {
    name: 'present',
    async changed(all) {
      const ids = [...((await connections(config))?.present ?? [])].sort()
      const isNew = own === undefined || ids.join() !== own.ids.join() || now() - own.at >= BEAT_MS
      if (isNew) own = { ids, at: now() }
      return all ? [master, ...heard.keys()] : isNew ? [master] : []
    },
    read: async (name) => (name === master ? own : heard.get(name)?.said),
    async write(name, value) {
      if (name === master) return own
      if (isRecord(value)) heard.set(name, { said: value, heard: now() })
      else heard.delete(name)
      await keep(Object.fromEntries(heard))
      return value
    },
  }
}
