import type { MatchSubject } from '../author/kinds.ts'
import type { WorkerRoom } from './room.ts'

/** Every accepted minion with what is cached of it, read only when a matcher looks at it. */
export async function subjects(room: Pick<WorkerRoom, 'keys' | 'minions'>): Promise<MatchSubject[]> {
  const ids = await room.keys.list('accepted')
  return ids.map((id) => ({
    id,
    get grains() {
      return room.minions.grains(id)
    },
    get pillar() {
      return room.minions.pillar(id)
    },
  })) as MatchSubject[]
}
