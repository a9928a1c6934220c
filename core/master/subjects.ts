import type { MatchSubject } from '../author/kinds.ts'
import { cachedMinions } from '../jobs/cached-minions.ts'
import type { WorkerRoom } from './room.ts'

/** Every accepted minion with what is cached of it. */
export async function subjects(room: Pick<WorkerRoom, 'keys' | 'minions'>): Promise<Iterable<MatchSubject>> {
  return cachedMinions(await room.keys.minions(), room.minions)
}
