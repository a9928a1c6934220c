import { messageOf } from '../base/errors.ts'
import type { MasterConfig } from '../config/index.ts'
import { EventBus, masterEventSockets } from '../events/index.ts'
import { minionDataDirectory } from '../jobs/paths.ts'
import {
  allKeys,
  type ChangedBy,
  fingerKeys,
  fingerMaster,
  generateKeyFiles,
  generateKeyTexts,
  generateSignature,
  KeyAudit,
  type KeyLists,
  KeyManager,
  KeyStore,
  listKeys,
  masterKeyText,
  matchKeys,
  type Operator,
  printKeys,
} from '../keys/index.ts'

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
  /** What changes keys. */
  readonly manager: KeyManager
  readonly audit: KeyAudit
  /** What shows and makes them, named and shaped as Salt's wheel functions. */
  readonly view: ReturnType<typeof viewOf>
}

/** The keys of a master, for programs on its host, whether it runs or not. */
export function openKeyClient({ config, who, by, warn }: KeyClientSettings): KeyClient {
  const store = new KeyStore(config.pki_dir)
  const audit = new KeyAudit(config.key_audit_log, who, warn, async (entries, who) => {
    const { keyEntry, recordOnce } = await import('../auth/audit/index.ts')
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
  return { store, manager, audit, view: viewOf(store, config) }
}

function viewOf(store: KeyStore, config: MasterConfig) {
  return {
    /** By a word as `pre`, `acc`, `all`; undefined for a word that is none. */
    list: (word: string): Promise<KeyLists | undefined> => listKeys(store, word),
    listAll: () => allKeys(store, config.pki_dir),
    nameMatch: (match: string) => matchKeys(store, match),
    print: (match: string) => printKeys(store, config, match),
    finger: (match: string, hash?: string) => fingerKeys(store, config, match, hash),
    fingerMaster: (hash?: string) => fingerMaster(config, hash),
    masterKeyStr: () => masterKeyText(config),
    gen: (bits?: number) => generateKeyTexts(bits),
    genKeys: generateKeyFiles,
    genSignature: (request?: Parameters<typeof generateSignature>[1]) => generateSignature(config, request),
  }
}
