import { messageOf } from '../base/errors.ts'
import { parseMinionId } from '../base/minion-id.ts'
import type { MasterConfig } from '../config/index.ts'
import { tags } from '../events/tags.ts'
import { actOf, auditEntry, type ChangedBy, type KeyAudit } from './key-audit.ts'
import { generateKeyTexts } from './key-generation.ts'
import { type KeysBySection, locateKeys, matchKeys, selectionOf } from './key-lists.ts'
import type { KeyChange, KeySelection, KeyStore } from './key-store.ts'
import { requestRotation } from './rotation.ts'

export interface KeyManagerSettings {
  readonly config: Pick<
    MasterConfig,
    'cachedir' | 'hash_type' | 'rotate_aes_key' | 'preserve_minions' | 'preserve_minion_cache'
  >
  readonly store: KeyStore
  readonly audit: KeyAudit
  readonly by: ChangedBy
  /** Fire events, given as pairs of tag and data. Does not fail if the master is not running. */
  fire(events: readonly (readonly [tag: string, data: Record<string, unknown>])[]): Promise<void>
  /** Remove cached data of minions whose keys are gone. */
  forget(ids: readonly string[]): Promise<void>
  /** Cancel the jobs that wait for minions whose keys are no longer accepted. */
  cancelJobs(ids: readonly string[]): Promise<void>
  /** Called when a side effect of a change failed. */
  warn(message: string): void
}

export interface AcceptOptions {
  readonly includeRejected?: boolean
  readonly includeDenied?: boolean
}

export interface RejectOptions {
  readonly includeAccepted?: boolean
  readonly includeDenied?: boolean
}

/**
 * Changes keys on behalf of an administrator, with all side effects: the event `salt/key`, the line in the audit log, a
 * new AES key when access was revoked, and the removal of cached data. `match` is a shell pattern, or several
 * separated by commas. Methods named after Salt's wheel functions return what those do: where the keys are afterwards.
 */
export class KeyManager {
  readonly #settings: KeyManagerSettings

  constructor(settings: KeyManagerSettings) {
    this.#settings = settings
  }

  /** Accept keys and return each change, or why it was refused. */
  async acceptKeys(keys: KeySelection, options: AcceptOptions = {}): Promise<KeyChange[]> {
    return this.#finish(await this.#settings.store.accept(keys, options))
  }

  async rejectKeys(keys: KeySelection, options: RejectOptions = {}): Promise<KeyChange[]> {
    return this.#finish(await this.#settings.store.reject(keys, options))
  }

  async deleteKeys(keys: KeySelection): Promise<KeyChange[]> {
    const changes = await this.#settings.store.remove(keys)
    const { preserve_minions, preserve_minion_cache } = this.#settings.config
    const gone = idsOf(changes)
    if (gone.length > 0 && !preserve_minions && !preserve_minion_cache) await this.#settings.forget(gone)
    return this.#finish(changes)
  }

  async accept(match: string, options?: AcceptOptions): Promise<KeysBySection> {
    await this.acceptKeys(await this.#matching(match), options)
    return matchKeys(this.#settings.store, match)
  }

  /** `lists`: ids by section, as in `KeysBySection`. */
  async acceptDict(lists: KeysBySection, options?: AcceptOptions): Promise<KeysBySection> {
    await this.acceptKeys(selectionOf(lists), options)
    return this.#whereNow(lists)
  }

  async reject(match: string, options?: RejectOptions): Promise<KeysBySection> {
    await this.rejectKeys(await this.#matching(match), options)
    return matchKeys(this.#settings.store, match)
  }

  async rejectDict(lists: KeysBySection, options?: RejectOptions): Promise<KeysBySection> {
    await this.rejectKeys(selectionOf(lists), options)
    return this.#whereNow(lists)
  }

  async delete(match: string): Promise<KeysBySection> {
    await this.deleteKeys(await this.#matching(match))
    return matchKeys(this.#settings.store, match)
  }

  async deleteDict(lists: KeysBySection): Promise<KeysBySection> {
    await this.deleteKeys(selectionOf(lists))
    return this.#whereNow(lists)
  }

  /**
   * Generate a key pair for a minion and accept it. Only the public key is stored. Undefined, and nothing happens, if
   * the id has a key already, unless `force` is set.
   */
  async genAccept(
    id: string,
    { keysize, force = false }: { keysize?: number; force?: boolean } = {},
  ): Promise<{ priv: string; pub: string } | undefined> {
    const name = parseMinionId(id)
    if (!force && (await this.#settings.store.state(name))) return undefined
    const pair = await generateKeyTexts(keysize)
    const changes = await this.#settings.store.add(name, pair.pub, force)
    if (!changes) return undefined
    await this.#finish(changes)
    return pair
  }

  async #matching(match: string): Promise<KeySelection> {
    return selectionOf(await matchKeys(this.#settings.store, match))
  }

  #whereNow(lists: KeysBySection): Promise<KeysBySection> {
    return locateKeys(this.#settings.store, Object.values(selectionOf(lists)).flat())
  }

  async #finish(changes: readonly KeyChange[]): Promise<KeyChange[]> {
    const { config, audit, by, fire } = this.#settings
    const done = changes.filter(({ refused }) => refused === undefined)
    if (done.length > 0) {
      const revoked = idsOf(done.filter(({ from, to }) => from === 'accepted' && to !== 'accepted'))
      if (revoked.length > 0) await this.#settings.cancelJobs(revoked)
      await audit.record(done.map((change) => auditEntry(change, by, config.hash_type)))
      if (config.rotate_aes_key && done.some(revokesAccess)) await this.#rotate()
      await fire(eventsOf(done))
    }
    return [...changes]
  }

  async #rotate(): Promise<void> {
    const { config, warn } = this.#settings
    await requestRotation(config).catch((error: unknown) =>
      warn(
        `The rotation of the AES key could not be requested, so a removed minion may still decrypt messages: ${messageOf(error)}`,
      ),
    )
  }
}

/**
 * Whether a change revokes access. That includes rejecting a denied key, since a rejected key of the id takes
 * precedence.
 */
const revokesAccess = ({ from, to }: KeyChange): boolean =>
  (from === 'accepted' && to !== 'accepted') || (from === 'denied' && to === 'rejected')

/** Return one event per id and act. A key that was merely replaced causes no event of its own. */
export function eventsOf(changes: readonly KeyChange[]): [tag: string, data: Record<string, unknown>][] {
  const filed = new Set(changes.filter(({ to }) => to).map(({ id }) => id))
  const reported = changes.filter(({ id, to }) => to !== undefined || !filed.has(id))
  const acts = new Map(reported.map((change) => [`${actOf(change)} ${change.id}`, change]))
  return Array.from(acts.values(), (change) => [
    tags.key,
    { result: true, act: actOf(change), id: change.id },
  ])
}

const idsOf = (changes: readonly KeyChange[]): string[] => [...new Set(changes.map(({ id }) => id))]
