/** What a minion tells its master's event bus: one event, or several that travel together (wire protocol §7.2). */
export type MinionEventContent =
  | { readonly tag: string; readonly data: unknown }
  | { readonly events: readonly unknown[] }

export interface MinionEventExtras {
  readonly pretag?: unknown
  /** Grains that a start event carries (`start_event_grains`). */
  readonly grains?: Readonly<Record<string, unknown>>
}

/** Load of `_minion_event`, in the order of keys real minions use: listeners get this very map (§12). */
export function makeMinionEvent(
  id: string,
  content: MinionEventContent,
  { pretag = null, grains }: MinionEventExtras = {},
): Record<string, unknown> {
  const told = 'events' in content ? { events: content.events } : { data: content.data, tag: content.tag }
  return { id, cmd: '_minion_event', pretag, ...told, ...(grains && { grains }) }
}
