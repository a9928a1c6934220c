import type { AuditLog } from '../../auth/audit/index.ts'
import type { Auth } from '../../auth/index.ts'
import type { Log } from '../../author/context.ts'
import type { Params } from '../../author/params.ts'
import type { Clock } from '../../base/clock.ts'
import type { Catalogues } from '../../cache/catalogues.ts'
import type { Mine } from '../../cache/mine.ts'
import type { MinionData } from '../../cache/minion-data.ts'
import type { MinionStarts } from '../../cache/minion-starts.ts'
import type { MasterConfig } from '../../config/index.ts'
import type { PrivateKey, PublicKey } from '../../crypto/index.ts'
import type { FileServer } from '../../fileserver/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import type { Publications } from '../../jobs/publications.ts'
import type { KeyAudit } from '../../keys/key-audit.ts'
import type { KeyStore } from '../../keys/key-store.ts'
import type { Meter } from '../../metrics/index.ts'
import type { FunctionRun, StartedRun } from '../../runs/background.ts'
import type { TargetMatcher } from '../../targets/index.ts'
import type { JobTracer } from '../../tracing/index.ts'
import type { JobLoad } from '../../wire/publication.ts'
import type { RawArguments } from '../../wire/raw-arguments.ts'
import type { CallChecks } from '../preflight/call-checks.ts'
import type { ExpectedSenders } from './expected-senders.ts'
import type { ReplayGuard } from './replay-guard.ts'
import type { Syndics } from './syndics.ts'

/** Stores and functions that the handlers of a worker share. */
export interface WorkerContext {
  readonly config: MasterConfig
  readonly log: Log
  /** The clock by which jobs that wait for minions expire. */
  readonly clock: Clock
  /** Undefined if metrics are not enabled. */
  readonly meter?: Meter | undefined
  /** Records spans of jobs; undefined unless an OpenTelemetry SDK is registered. */
  readonly tracer?: JobTracer | undefined
  readonly masterKey: PrivateKey
  readonly keys: KeyStore
  /** Records what users do, and what they are refused. */
  readonly audit: AuditLog
  /** Records every change of a key, also in `audit`. */
  readonly keyAudit: KeyAudit
  readonly jobs: JobCache
  /** The jobs as they were published, for minions that were not connected. */
  readonly publications: Publications
  /** Decides which minions may return for a job. */
  readonly senders: ExpectedSenders
  readonly minions: MinionData
  /** The values that minions share with each other. */
  readonly mine: Mine
  readonly catalogues: Catalogues
  readonly starts: MinionStarts
  readonly syndics: Syndics
  readonly matcher: TargetMatcher
  /** Authenticates callers and decides what they may do. */
  readonly auth: Auth
  readonly replays: ReplayGuard
  readonly callChecks: CallChecks
  readonly files: FileServer
  /** Return the accepted key of a minion. */
  publicKey(id: string): Promise<PublicKey | undefined>
  /** Fire an event on the master's bus. Resolves with false, after it was logged, if it was lost. */
  fire(tag: string, data: Record<string, unknown>): Promise<boolean>
  /** Return the parameters of an execution function that this master can load itself. Rejects if loading fails. */
  paramsOf(fun: string): Promise<Params | undefined>
  /** Return the arguments of a runner or wheel function with secrets masked. */
  shownCall(
    kind: FunctionRun['kind'],
    call: Pick<FunctionRun, 'fun' | 'args' | 'kwargs'>,
  ): Promise<readonly unknown[]>
  /** Hand a job to the publisher. `minions` are its recipients if they are known by id, `words` the arguments as typed. */
  publish(job: JobLoad, minions?: readonly string[], words?: RawArguments): Promise<void>
  /** Start a runner or wheel function in a process of its own. */
  startRun(run: FunctionRun): Promise<StartedRun>
  /** Return a new job id. */
  nextJid(): string
  /** Ask for a new AES key, as after the deletion of a minion's key. */
  requestRotation(): Promise<void>
}
