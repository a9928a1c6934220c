import type { Log } from '../author/context.ts'
import type { MasterConfig } from '../config/index.ts'
import type { PrivateKey, PublicKey } from '../crypto/index.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import type { MinionData } from '../jobs/minion-data.ts'
import type { KeyStore } from '../keys/key-store.ts'
import type { TargetMatcher } from '../targets/index.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { Access } from './access.ts'
import type { ReplayGuard } from './replay-guard.ts'

/** What the handlers of a worker work with. */
export interface WorkerRoom {
  readonly config: MasterConfig
  readonly log: Log
  readonly masterKey: PrivateKey
  readonly keys: KeyStore
  readonly jobs: JobCache
  readonly minions: MinionData
  readonly matcher: TargetMatcher
  readonly access: Access
  readonly replays: ReplayGuard
  /** The accepted key of a minion. */
  publicKey(id: string): Promise<PublicKey | undefined>
  /** Fire an event on the master's bus. Resolves with false, after it was logged, if it was lost. */
  fire(tag: string, data: Record<string, unknown>): Promise<boolean>
  /** The arguments of a job as they may be shown and stored, as far as this master knows the functions. */
  shownArguments(job: Pick<JobLoad, 'fun' | 'arg'>): Promise<readonly unknown[]>
  /** Hand a job to the publisher; `minions` are those it is for, where that is known by id. */
  publish(job: JobLoad, minions?: readonly string[]): Promise<void>
  /** The next job id of this process. */
  nextJid(): string
  /** A key was deleted: ask for a new AES key. */
  requestRotation(): Promise<void>
}
