import { messageOf } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { EventBus, masterEventSockets } from '../events/index.ts'
import { minionDataDirectory } from '../jobs/paths.ts'
import { type ChangedBy, KeyAudit, KeyManager, KeyStore, type Operator } from '../keys/index.ts'

export interface KeyClientSettings {
  readonly config: MasterConfig
  /** Who acts, and through what; both are written down. */
  readonly who: Operator
  readonly by: ChangedBy
  /** Told what of a change was not done beside the change itself. */
  warn(message: string): void
}

export interface KeyClient {
  readonly store: KeyStore
  readonly manager: KeyManager
  readonly audit: KeyAudit
}

/** The keys of a master, for programs on its host, whether it runs or not. */
export function openKeyClient({ config, who, by, warn }: KeyClientSettings): KeyClient {
  const store = new KeyStore(config.pki_dir)
  const audit = new KeyAudit(config.key_audit_log, who, warn)
  const manager = new KeyManager({
    config,
    store,
    audit,
    by,
    warn,
    async fire(events) {
      const bus = await EventBus.connect(masterEventSockets(config)).catch(() => undefined)
      try {
        for (const [tag, data] of events) await bus?.fire(tag, data)
      } catch (error) {
        warn(`The event bus was not told: ${messageOf(error)}`)
      } finally {
        await bus?.close()
      }
    },
    async forget(ids) {
      try {
        const { MinionData } = await import('../jobs/minion-data.ts') // only deletions need the store
        const data = MinionData.open(minionDataDirectory(config))
        for (const id of ids) await data.remove(id)
        await data.close()
      } catch (error) {
        warn(`What is cached of the minions was not removed: ${messageOf(error)}`)
      }
    },
  })
  return { store, manager, audit }
}
