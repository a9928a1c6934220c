import { join } from 'node:path'
import type { Log } from '../author/context.ts'
import { systemClock } from '../base/clock.ts'
import { SaltError } from '../base/errors.ts'
import { SteadyTime } from '../base/steady-time.ts'
import type { MinionConfig } from '../config/index.ts'
import { ReturnSpool } from '../jobs/return-spool.ts'
import type { SeenJobs } from '../jobs/seen-jobs.ts'
import { checkAfterCrash, isFull } from '../store/index.ts'
import { CachedReturns } from './cached-returns.ts'
import { type ProcEntry, ProcTable } from './jobs/proc-table.ts'
import { cachedReturnsDirectory, oldSeenFile, spoolDirectory } from './paths.ts'

/** The records of jobs that a minion keeps on disk, all below its `cachedir`. */
export interface MinionStores {
  readonly spool: ReturnSpool
  /** Accepted jobs, in the same LMDB store as the spool. */
  readonly seen: SeenJobs
  readonly cached: CachedReturns
  /** The jobs that run. */
  readonly procs: ProcTable
  /** Jobs that were running when an earlier run of the minion ended. */
  readonly interrupted: readonly ProcEntry[]
  /** The clock by which records of accepted jobs expire. */
  readonly time: SteadyTime
  /** Close the stores after an orderly end, so that the next start does not check them. */
  close(): Promise<void>
}

/** Open the stores. They are checked first if the previous minion was killed. */
export async function openStores(config: MinionConfig, log: Log): Promise<MinionStores> {
  const marker = join(config.cachedir, '.running')
  const directory = spoolDirectory(config)
  const onDamage = (error: SaltError) => log.error(error.message)
  const removeMarker = await checkAfterCrash({
    marker,
    stores: [ReturnSpool.path(directory)],
    onDamage,
    onCrash: () =>
      log.info(
        'The previous salt-minion on this host did not shut down cleanly: its stores are checked first.',
      ),
    onWait: (sentence) => log.warn(sentence),
  })
  const spool = ReturnSpool.open(directory, { onDamage, returners: config.return })
  if (isFull(marker))
    log.warn(
      `The disk is full (${config.cachedir}): this minion runs no jobs until there is free space. No restart is needed.`,
    )
  try {
    const { seen } = spool
    if (!seen) throw new SaltError('STORE_FAILED', `The spool ${directory} has no record of accepted jobs.`)
    await seen.importFrom(oldSeenFile(config))
    const time = new SteadyTime({ clock: systemClock, onLeap: (ms) => log.warn(leapSentence(ms)) })
    time.now(seen.latest)
    return {
      spool,
      seen,
      ...(await ProcTable.open(config.cachedir)),
      cached: new CachedReturns(cachedReturnsDirectory(config)),
      time,
      async close() {
        await spool.close()
        await removeMarker()
      },
    }
  } catch (error) {
    await spool.close()
    throw error
  }
}

const leapSentence = (ms: number): string =>
  `The clock has jumped ahead by ${Math.round(ms / 60_000)} minutes. Records of accepted jobs expire by the ` +
  'new time only once the clock has kept it for an hour.'
