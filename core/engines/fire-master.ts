import type { EngineEvents } from '../author/engine.ts'
import { SaltError } from '../base/errors.ts'
import { type EventBus, isReservedTag, tags } from '../events/index.ts'
import type { EngineStart } from './messages.ts'

/** Return the function that fires an engine's events on the master's bus. That of a minion refuses what a master would drop. */
export function fireMasterOn(
  bus: Pick<EventBus, 'fire'>,
  { role, id }: Pick<EngineStart, 'role' | 'id'>,
): EngineEvents['fireMaster'] {
  if (role === 'master') return (tag, data) => bus.fire(tag, data)
  return async (tag, data) => {
    if (isReservedTag(tag, id)) throw new SaltError('INVOCATION', `Minions may not use the tag ${tag}.`)
    await bus.fire(tags.fireMaster, { tag, data })
  }
}
