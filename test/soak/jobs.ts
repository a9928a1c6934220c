/** The mix of jobs: small and large returns, commands, failures, and runners that a minion has the master run. */
import type { MinionResult } from '../../core/client/index.ts'

export interface Call {
  readonly tgt: readonly string[]
  readonly fun: string
  readonly arg?: readonly unknown[]
  readonly kwarg?: Readonly<Record<string, unknown>>
}

interface MixedJob extends Call {
  readonly isRight: (result: Extract<MinionResult, { state: 'returned' | 'failed' }>) => boolean
}

type Kind = Omit<MixedJob, 'tgt'>

/** Seconds until a wait is given up. A busy machine may need them. */
export const PATIENCE = 60
const EVERY_20TH = 19
const RUNNER = 'manage.present'

/** The master must let minions run the runner. */
export const masterOptions = { peer_run: { '.*': [RUNNER] } }

const text = (bytes: number): Kind => ({
  fun: 'cmd.run',
  arg: [`head -c ${bytes} /dev/zero | tr '\\0' x`],
  isRight: (result) => typeof result.return === 'string' && result.return.length === bytes,
})

const usual: readonly Kind[] = [
  { fun: 'test.ping', isRight: (result) => result.return === true },
  { fun: 'cmd.run', arg: ['true'], isRight: (result) => result.return === '' && result.retcode === 0 },
  text(64_000),
  { fun: 'test.exception', isRight: ({ success }) => !success },
]
const large = text(1_000_000)
const runner: Kind = {
  fun: 'publish.runner',
  arg: [RUNNER],
  kwarg: { timeout: PATIENCE },
  isRight: (result) => Array.isArray(result.return),
}

/** The job that is published as the n-th. */
export function mixedJob(n: number, minions: readonly string[]): MixedJob {
  if (n % 20 === EVERY_20TH) return { tgt: minions, ...large }
  if (n % 20 === 9) return { tgt: minions.slice(0, 1), ...runner }
  return { tgt: minions, ...(usual[n % usual.length] as Kind) }
}
