/** Events from a minion for its master's event bus: one, or several in one message (wire protocol §7.2). */
export type MinionEventContent =
  | { readonly tag: string; readonly data: unknown }
  | { readonly events: readonly unknown[] }

export interface MinionEventExtras {
  readonly pretag?: unknown
  /** Grains in a start event (`start_event_grains`). */
  readonly grains?: Readonly<Record<string, unknown>>
}

/**
 * Make the load of `_minion_event`, with the keys in the order of Salt's minions: listeners receive this map (wire
 * protocol §12).
 */
export function makeMinionEvent(
  id: string,
  content: MinionEventContent,
  { pretag = null, grains }: MinionEventExtras = {},
): Record<string, unknown> {
  const fields = 'events' in content ? { events: content.events } : { data: content.data, tag: content.tag }
  return { id, cmd: '_minion_event', pretag, ...fields, ...(grains && { grains }) }
}
