import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../base/clock.ts'
import type { MasterConfig } from '../config/index.ts'
import type { JoinAnswer, JoinProof } from './invites.ts'
import { createSigningFiles, type SigningFiles } from './signing-files.ts'

/** What accepts a key in place of a person: the option that says so, or an invitation. */
export type SignedBy =
  | 'auto_accept'
  | 'autosign_file'
  | 'autosign_grains_dir'
  | 'minions_autosign'
  | 'open_mode'
  | 'invite'

/** Who offers a key. */
export interface Offer {
  readonly id: string
  /** What the minion says of itself (`autosign_grains`). */
  readonly autosignGrains?: Readonly<Record<string, unknown>>
  /** That it holds a join token. */
  readonly joinProof?: JoinProof
}

/** What the administrator has laid down about new keys (wire protocol §6.2). */
export interface KeyPolicy {
  readonly openMode: boolean
  /** Pending keys at most. */
  readonly maxPending: number
  full(offer: Offer): Promise<boolean>
  autoReject(offer: Offer): Promise<boolean>
  /** A file in `minions_autosign` is used up by a yes. */
  autoSign(offer: Offer): Promise<SignedBy | false>
  /** A good join token is used up by this. Undefined if the minion shows none. */
  join(offer: Offer): Promise<JoinAnswer | undefined>
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
  /** Redeems a join token; by default there are none. */
  redeem?(proof: JoinProof, id: string): Promise<JoinAnswer | undefined>
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
