import { connections } from '../../cache/connected.ts'
import { type MinionStart, startRefused } from '../../wire/minion-start.ts'
import { placeOf } from '../publisher/duplicate-minions.ts'
import type { WorkerContext } from '../worker/context.ts'

/** The list of connected minions is written at least every 5 s: a minion that started after that counts as connected. */
const UNLISTED_MS = 10_000

/**
 * Check a minion that is about to accept jobs. With `refuse_second_minion` return a refusal if a minion with its id runs
 * elsewhere; undefined otherwise. Minions of Python Salt do not ask.
 */
export async function checkMinionStart(
  context: WorkerContext,
  id: string,
  start: MinionStart,
): Promise<ReturnType<typeof startRefused> | undefined> {
  const now = Date.now()
  if (context.config.refuse_second_minion) {
    const there = (await connections(context.config))?.runs?.[id] ?? []
    const first = context.starts
      .of(id)
      .find(({ token, at }) => token !== start.token && (there.includes(token) || now - at < UNLISTED_MS))
    if (first) {
      const sentence = `There are two minions with the id ${id} and its key, ${placeOf(first)} and ${placeOf(start)}`
      context.log.error(`${sentence}: the one that started second gets no jobs (refuse_second_minion).`)
      return startRefused(
        `${sentence}. This one gets no jobs, because refuse_second_minion is set on the master.`,
      )
    }
  }
  await context.starts.save(id, start, now)
  return undefined
}
