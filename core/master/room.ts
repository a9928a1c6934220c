import type { AuditLog } from '../auth/audit/index.ts'
import type { Auth } from '../auth/index.ts'
import type { Log } from '../author/context.ts'
import type { Params } from '../author/params.ts'
import type { MasterConfig } from '../config/index.ts'
import type { PrivateKey, PublicKey } from '../crypto/index.ts'
import type { FileServer } from '../fileserver/index.ts'
import type { FunctionRun, StartedRun } from '../jobs/background.ts'
import type { Catalogues } from '../jobs/catalogues.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import type { MinionData } from '../jobs/minion-data.ts'
import type { MinionStarts } from '../jobs/minion-starts.ts'
import type { KeyAudit } from '../keys/key-audit.ts'
import type { KeyStore } from '../keys/key-store.ts'
import type { Meter } from '../metrics/index.ts'
import type { TargetMatcher } from '../targets/index.ts'
import type { JobTracer } from '../tracing/index.ts'
import type { JobLoad } from '../wire/publication.ts'
import type { JobWords } from '../wire/typed-words.ts'
import type { ExpectedSenders } from './expected-senders.ts'
import type { ReplayGuard } from './replay-guard.ts'
import type { Verdicts } from './verdicts.ts'

/** What the handlers of a worker work with. */
export interface WorkerRoom {
  readonly config: MasterConfig
  readonly log: Log
  /** Counts, if anybody wants to know. */
  readonly meter?: Meter | undefined
  /** Makes spans of jobs, where an SDK of OpenTelemetry is registered. */
  readonly tracer?: JobTracer | undefined
  readonly masterKey: PrivateKey
  readonly keys: KeyStore
  /** Is told what anybody does or is refused. */
  readonly audit: AuditLog
  /** Is told every change of a key, and tells `audit`. */
  readonly keyAudit: KeyAudit
  readonly jobs: JobCache
  /** Decides which minions may return for a job. */
  readonly senders: ExpectedSenders
  readonly minions: MinionData
  readonly catalogues: Catalogues
  readonly starts: MinionStarts
  readonly matcher: TargetMatcher
  /** Who somebody is and what they may do. */
  readonly auth: Auth
  readonly replays: ReplayGuard
  readonly verdicts: Verdicts
  readonly files: FileServer
  /** The accepted key of a minion. */
  publicKey(id: string): Promise<PublicKey | undefined>
  /** Fire an event on the master's bus. Resolves with false, after it was logged, if it was lost. */
  fire(tag: string, data: Record<string, unknown>): Promise<boolean>
  /** Parameters of a function that this master knows itself. Rejects if they cannot be found out. */
  paramsOf(fun: string): Promise<Params | undefined>
  /** Arguments of a runner or wheel function as they may be shown. */
  shownCall(
    kind: FunctionRun['kind'],
    call: Pick<FunctionRun, 'fun' | 'args' | 'kwargs'>,
  ): Promise<readonly unknown[]>
  /** Hand a job to the publisher; `minions` are those it is for, where that is known by id, `words` what was typed. */
  publish(job: JobLoad, minions?: readonly string[], words?: JobWords): Promise<void>
  /** Start a runner or wheel function in a process of its own. */
  startRun(run: FunctionRun): Promise<StartedRun>
  /** The next job id of this process. */
  nextJid(): string
  /** A key was deleted: ask for a new AES key. */
  requestRotation(): Promise<void>
}
