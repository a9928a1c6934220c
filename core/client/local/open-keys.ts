import { existsSync } from 'node:fs'
import { messageOf } from '../../base/errors.ts'
import { jobCacheDirectory, minionDataDirectory } from '../../config/cachedir.ts'
import type { MasterConfig } from '../../config/index.ts'
import { EventBus, masterEventSockets } from '../../events/index.ts'
import { type ChangedBy, KeyAudit, KeyManager, KeyStore, type Operator } from '../../keys/index.ts'

export interface KeysSettings {
  readonly config: MasterConfig
  /** The operator to record for changes of keys. */
  readonly who: Operator
  readonly by: ChangedBy
  /** Called with what could not be done beside the change itself, as announcing it. */
  warn(message: string): void
}

export interface OpenKeys {
  readonly store: KeyStore
  /** Changes keys. */
  readonly manager: KeyManager
  readonly audit: KeyAudit
}

/** Open the keys of a master for programs on its host, whether it runs or not. */
export function openKeys({ config, who, by, warn }: KeysSettings): OpenKeys {
  const store = new KeyStore(config.pki_dir)
  const audit = new KeyAudit(config.key_audit_log, who, warn, async (entries, who) => {
    const { keyEntry, recordOnce } = await import('../../auth/audit/index.ts')
    await recordOnce(
      config,
      warn,
      entries.map((entry) => keyEntry(entry, who)),
    )
  })
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
        warn(`The events of the key changes could not be fired: ${messageOf(error)}`)
      } finally {
        await bus?.close()
      }
    },
    async cancelJobs(ids) {
      const directory = jobCacheDirectory(config)
      try {
        const { JobCache } = await import('../../jobs/job-cache.ts') // only deletions need the store
        if (!existsSync(JobCache.path(directory))) return
        const jobs = JobCache.open(directory)
        await jobs.deliveries.cancelFor(ids)
        await jobs.close()
      } catch (error) {
        warn(
          `The jobs that wait for the minions could not be cancelled (salt-run jobs.waiting): ${messageOf(error)}`,
        )
      }
    },
    async forget(ids) {
      try {
        // Only deletions need the stores.
        const { MinionData } = await import('../../cache/minion-data.ts')
        const { Mine } = await import('../../cache/mine.ts')
        const directory = minionDataDirectory(config)
        for (const store of [MinionData.open(directory), Mine.open(directory)]) {
          for (const id of ids) await store.remove(id)
          await store.close()
        }
      } catch (error) {
        warn(`The cached data of the minions could not be removed: ${messageOf(error)}`)
      }
    },
  })
  return { store, manager, audit }
}
