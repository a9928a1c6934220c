import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import type { JoinAnswer, JoinProof } from './invites.ts'
import { createSigningFiles, type SigningFiles } from './signing-files.ts'

/** The option or invitation that accepted a key without a person. */
export type SignedBy =
  | 'auto_accept'
  | 'autosign_file'
  | 'autosign_grains_dir'
  | 'minions_autosign'
  | 'open_mode'
  | 'invite'

/** A key offered at sign-in: the id of the minion, and the other data of the request. */
export interface KeyOffer {
  readonly id: string
  /** Grains the minion sent (`autosign_grains`). */
  readonly autosignGrains?: Readonly<Record<string, unknown>>
  /** Proof that the minion holds a join token. */
  readonly joinProof?: JoinProof
}

/** The configured policy for new keys (wire protocol §6.2). */
export interface KeyPolicy {
  readonly openMode: boolean
  /** Maximum number of pending keys. */
  readonly maxPending: number
  full(offer: KeyOffer): Promise<boolean>
  autoReject(offer: KeyOffer): Promise<boolean>
  /** Return the option that accepts the key, or false. Consumes a matching file in `minions_autosign`. */
  autoSign(offer: KeyOffer): Promise<SignedBy | false>
  /** Check the join token, consuming a use if it is valid. Undefined if the minion sent none. */
  join(offer: KeyOffer): Promise<JoinAnswer | undefined>
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
  /** Return the ids of connected minions, for `max_minions`; undefined if unknown. */
  connectedIds?(): Promise<readonly string[] | undefined>
  /** Redeem a join token. By default there are no tokens. */
  redeem?(proof: JoinProof, id: string): Promise<JoinAnswer | undefined>
  /** Called once for each signing file that cannot be trusted. */
  warn(message: string): void
  readonly clock?: Clock
  /** Default: 10,000. */
  readonly maxPending?: number
}

const MAX_PENDING = 10_000
const MINUTE_MS = 60_000

/** Create the policy of a master's configuration. Files are read on each use, so changes take effect at once. */
export function createKeyPolicy(settings: PolicySettings): KeyPolicy {
  const { config, connectedIds, redeem, warn, clock = systemClock, maxPending = MAX_PENDING } = settings
  const files = createSigningFiles(warn)
  return {
    openMode: config.open_mode,
    maxPending,
    full: ({ id }) => isFull(id, config.max_minions, connectedIds),
    autoReject: ({ id }) => files.lists(config.autoreject_file, id),
    async autoSign({ id, autosignGrains = {} }) {
      if (config.auto_accept) return 'auto_accept'
      if (await files.lists(config.autosign_file, id)) return 'autosign_file'
      if (await files.listsGrain(config.autosign_grains_dir, autosignGrains)) return 'autosign_grains_dir'
      return (await takeStub(config, files, id, clock)) && 'minions_autosign'
    },
    join: async ({ id, joinProof }) => joinProof && redeem?.(joinProof, id),
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

/** The folder in `pki_dir` for files that each accept the key of the id that they are named after. */
export const AUTOSIGN_FOLDER = 'minions_autosign'

/**
 * Consume the file named after the id in `minions_autosign`, which accepts one key. Of several processes, the one that
 * deletes the file wins.
 */
async function takeStub(
  { pki_dir, autosign_timeout }: PolicySettings['config'],
  files: SigningFiles,
  id: string,
  clock: Clock,
): Promise<boolean> {
  const folder = join(pki_dir, AUTOSIGN_FOLDER)
  const path = join(folder, id)
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile() || !(await files.isTrusted(folder))) return false
  if (clock.now() - found.mtimeMs > autosign_timeout * MINUTE_MS) return false
  return unlink(path).then(
    () => true,
    () => false,
  )
}
