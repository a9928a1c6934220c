/** Writes returns to the minion's spool from a job process. */
import { setTimeout as delay } from 'node:timers/promises'
import { decode, Encoded, encodeNetwork } from '../../codec/index.ts'
import { ReturnSpool, type SpoolEntry, type SpooledReturn } from '../../jobs/return-spool.ts'
import { spoolDirectory } from '../paths.ts'
import type { RunnerSettings } from './job-runner.ts'

type Settings = Pick<RunnerSettings, 'config'>

/** Size from which a return bypasses the minion process, which would hold several copies of it in memory. */
export const LARGE_RETURN_BYTES = 1 << 20

const RETRY_MS = 1000

/**
 * Write a large return to the spool. Resolves with its key once it is on disk, with undefined if the minion has to persist it.
 */
export async function spoolLarge(
  returned: SpooledReturn,
  { config }: Settings,
): Promise<SpoolEntry['key'] | undefined> {
  if (config.pub_ret === false || config.cache_jobs === true) return undefined
  try {
    const { ret } = returned
    const bytes = encodeNetwork(ret.return)
    decode(bytes) // the master must be able to read it
    return await withSpool(config, async (spool) => {
      const entry = await spool.addFirst({ ...returned, ret: { ...ret, return: new Encoded(bytes) } })
      return entry?.key
    })
  } catch {
    return undefined
  }
}

/**
 * Write the return of a job whose minion has ended to the spool, for the next run of the minion. Retries until it is on disk.
 */
export async function spoolForNextRun(ret: SpooledReturn, { config }: Settings): Promise<void> {
  if (config.pub_ret === false) return
  for (;;) {
    try {
      await withSpool(config, (spool) => spool.addFirst(ret))
      return
    } catch {
      await delay(RETRY_MS)
    }
  }
}

async function withSpool<T>(config: Settings['config'], use: (spool: ReturnSpool) => Promise<T>): Promise<T> {
  const spool = ReturnSpool.open(spoolDirectory(config), { returners: config.return })
  try {
    return await use(spool)
  } finally {
    await spool.close()
  }
}
