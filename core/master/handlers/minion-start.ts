import { connections } from '../../jobs/connected.ts'
import { type MinionStart, startRefused } from '../../wire/minion-start.ts'
import type { WorkerRoom } from '../room.ts'
import { placeOf } from '../second-minions.ts'

/** Who is connected is written down every five seconds at least: until then one that was let in counts as there. Milliseconds. */
const UNSEEN_MS = 10_000

/**
 * A minion is about to take jobs. With `refuse_second_minion` one that runs already elsewhere is told not to; minions of
 * Python Salt do not ask.
 */
export async function answerStart(
  room: WorkerRoom,
  id: string,
  start: MinionStart,
): Promise<ReturnType<typeof startRefused> | undefined> {
  const now = Date.now()
  if (room.config.refuse_second_minion) {
    const there = (await connections(room.config))?.runs?.[id] ?? []
    const first = room.starts
      .of(id)
      .find(({ token, at }) => token !== start.token && (there.includes(token) || now - at < UNSEEN_MS))
    if (first) {
      const sentence = `There are two minions with the id ${id} and its key, ${placeOf(first)} and ${placeOf(start)}`
      room.log.error(`${sentence}: the second one takes no jobs (refuse_second_minion).`)
      return startRefused(
        `${sentence}. This one takes no jobs, as refuse_second_minion is set on the master.`,
      )
    }
  }
  await room.starts.save(id, start, now)
  return undefined
}
