import { tags } from '../events/index.ts'
import { isRecord } from '../wire/bytes.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { Renewal } from './renewal.ts'

export interface LocalEventsSettings {
  readonly id: string
  readonly renewal: Pick<Renewal, 'refreshModules' | 'refreshGrains'>
  tellMasters(load: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** What an event on the minion's own bus asks for (wire protocol §11); undefined if that is nothing. */
export function askedForBy(
  tag: string,
  data: Readonly<Record<string, unknown>>,
  settings: LocalEventsSettings,
): Promise<unknown> | undefined {
  const { renewal } = settings
  if (tag === tags.moduleRefresh) return renewal.refreshModules()
  if (tag === tags.grainsRefresh || tag === tags.pillarRefresh) return renewal.refreshGrains()
  return tag === tags.fireMaster ? forward(data, settings) : undefined
}

async function forward(
  { tag, data, events, pretag }: Readonly<Record<string, unknown>>,
  { id, tellMasters }: LocalEventsSettings,
): Promise<void> {
  const content = Array.isArray(events)
    ? { events }
    : { tag: String(tag), data: isRecord(data) ? data : { data } }
  await tellMasters(makeMinionEvent(id, content, { pretag }))
}
