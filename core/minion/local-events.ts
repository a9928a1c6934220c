import { isRecord } from '../base/record.ts'
import { tags } from '../events/index.ts'
import { makeMinionEvent } from '../wire/minion-event.ts'
import type { Refresher } from './link/refresher.ts'

export interface LocalEventsSettings {
  readonly id: string
  readonly refresher: Pick<Refresher, 'refreshModules' | 'refreshGrains'>
  sendToMasters(load: Readonly<Record<string, unknown>>): Promise<unknown>
}

/** Handle an event on the minion's own bus (wire protocol §11). Returns undefined if the event needs no action. */
export function handleLocalEvent(
  tag: string,
  data: Readonly<Record<string, unknown>>,
  settings: LocalEventsSettings,
): Promise<unknown> | undefined {
  const { refresher } = settings
  if (tag === tags.moduleRefresh) return refresher.refreshModules()
  if (tag === tags.grainsRefresh || tag === tags.pillarRefresh) return refresher.refreshGrains()
  return tag === tags.fireMaster ? forward(data, settings) : undefined
}

async function forward(
  { tag, data, events, pretag }: Readonly<Record<string, unknown>>,
  { id, sendToMasters }: LocalEventsSettings,
): Promise<void> {
  const content = Array.isArray(events)
    ? { events }
    : { tag: String(tag), data: isRecord(data) ? data : { data } }
  await sendToMasters(makeMinionEvent(id, content, { pretag }))
}
