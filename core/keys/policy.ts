import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import { createSigningFiles, type SigningFiles } from './signing-files.ts'

/** Who offers a key. */
export interface Offer {
  readonly id: string
  /** What the minion says of itself (`autosign_grains`). */
  readonly autosignGrains?: Readonly<Record<string, unknown>>
}

/** What the administrator has laid down about new keys (wire protocol §6.2). */
export interface KeyPolicy {
  readonly openMode: boolean
  /** Pending keys at most. */
  readonly maxPending: number
  full(offer: Offer): Promise<boolean>
  autoReject(offer: Offer): Promise<boolean>
  /** A file in `minions_autosign` is used up by a yes. */
  autoSign(offer: Offer): Promise<boolean>
}

export interface PolicySettings {
  readonly config: Pick<
    MasterConfig,
    'pki_dir' | 'auto_accept' | 'open_mode' | 'max_minions' | 'autosign_timeout'
  > & {
    readonly autosign_file?: string | undefined
    readonly autoreject_file?: string | undefined
    readonly autosign_grains_dir?: string | undefined
  }
  /** Ids of the minions that are connected, for `max_minions`; undefined if that is not known. */
  connectedIds?(): Promise<readonly string[] | undefined>
  /** Told once of each signing file that cannot be trusted. */
  warn(message: string): void
  readonly clock?: Clock
  /** 10 000 by default. */
  readonly maxPending?: number
}

const MAX_PENDING = 10_000
const MINUTE = 60_000

/** The policy of a master's configuration. Files are read when they are needed, so changes count at once. */
export function createKeyPolicy(settings: PolicySettings): KeyPolicy {
  const { config, connectedIds, warn, clock = systemClock, maxPending = MAX_PENDING } = settings
  const files = createSigningFiles(warn)
  return {
    openMode: config.open_mode,
    maxPending,
    full: ({ id }) => isFull(id, config.max_minions, connectedIds),
    autoReject: ({ id }) => files.lists(config.autoreject_file, id),
    autoSign: async (offer) =>
      config.auto_accept ||
      (await files.lists(config.autosign_file, offer.id)) ||
      (await files.listsGrain(config.autosign_grains_dir, offer.autosignGrains ?? {})) ||
      (await takeStub(config, files, offer.id, clock)),
  }
}

async function isFull(
  id: string,
  max: number,
  connectedIds: PolicySettings['connectedIds'],
): Promise<boolean> {
  if (max <= 0) return false
  const connected = (await connectedIds?.()) ?? []
  return connected.length >= max && !connected.includes(id)
}

/** A file named after the id in `minions_autosign` accepts one key; whoever removes it has used it. */
async function takeStub(
  { pki_dir, autosign_timeout }: PolicySettings['config'],
  files: SigningFiles,
  id: string,
  clock: Clock,
): Promise<boolean> {
  const folder = join(pki_dir, 'minions_autosign')
  const path = join(folder, id)
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile() || !(await files.isTrusted(folder))) return false
  if (clock.now() - found.mtimeMs > autosign_timeout * MINUTE) return false
  return unlink(path).then(
    () => true,
    () => false,
  )
}
