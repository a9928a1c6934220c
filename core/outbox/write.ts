import type { EventRecord, LoadRecord, Returner, ReturnRecord } from '../author/returner.ts'
import { withTimeout } from '../base/with-timeout.ts'
import type { QueueEntry } from './outbox.ts'

export interface WriteContext {
  /** Id of the batch, by which a store recognizes events that are written again. */
  readonly batch: string
  /** Milliseconds after which a call counts as failed. */
  readonly timeoutMs: number
  /** Gets the items that the store has accepted, even if a later one fails. */
  readonly taken: QueueEntry[]
}

/**
 * Write items in their order, consecutive ones of one kind together. Items of a kind that the store does not support count as
 * written.
 */
export async function writeItems(
  returner: Returner,
  entries: readonly QueueEntry[],
  { batch, timeoutMs, taken }: WriteContext,
): Promise<void> {
  const within: Within = (what, call) => withDeadline(what, timeoutMs, call)
  for (const [index, group] of grouped(entries).entries()) {
    const kind = group[0]?.item.kind
    if (kind === 'return' && !returner.saveBatch) await saveEach(returner, group, within, taken)
    else {
      if (kind === 'event') await saveEvents(returner, group, `${batch}.${index}`, within)
      else if (kind === 'return') await saveTogether(returner, group, within)
      else for (const queued of group) await saveJob(returner, queued, within)
      taken.push(...group)
    }
  }
}

type Within = (what: string, call: () => Promise<void> | undefined) => Promise<void>

/** Call a function of the returner. Rejects if it does not end in time; it is not cancelled. */
export async function withDeadline<T>(what: string, ms: number, call: () => T | Promise<T>): Promise<T> {
  const late = () => new Error(`Its ${what} did not finish within ${ms / 1000} seconds (returner_timeout).`)
  return await withTimeout(Promise.resolve(call()), ms, late)
}

async function saveJob(returner: Returner, { item }: QueueEntry, within: Within): Promise<void> {
  if (item.kind === 'load') {
    await within('prepJid', () => returner.prepJid?.(item.jid))
    await within('saveLoad', () => returner.saveLoad?.(item satisfies LoadRecord))
  } else if (item.kind === 'minions')
    await within('saveMinions', () => returner.saveMinions?.(item.jid, item.minions))
}

async function saveEach(
  returner: Returner,
  group: readonly QueueEntry[],
  within: Within,
  taken: QueueEntry[],
): Promise<void> {
  for (const queued of group) {
    for (const ret of returnsIn([queued])) await within('save', () => returner.save(ret))
    await updateEndtimes(returner, [queued], within)
    taken.push(queued)
  }
}

async function saveTogether(returner: Returner, group: readonly QueueEntry[], within: Within): Promise<void> {
  const rets = lastOfEach(returnsIn(group))
  const [only, ...others] = rets
  if (only && others.length === 0) await within('save', () => returner.save(only))
  else await within('saveBatch', () => returner.saveBatch?.(rets))
  await updateEndtimes(returner, group, within)
}

async function saveEvents(
  returner: Returner,
  group: readonly QueueEntry[],
  batch: string,
  within: Within,
): Promise<void> {
  const events: EventRecord[] = group.flatMap(({ item }) => (item.kind === 'event' ? [item] : []))
  await within('saveEvents', () => returner.saveEvents?.(events, batch))
}

/** Update the end time of each job once, with its last return. */
async function updateEndtimes(
  returner: Returner,
  group: readonly QueueEntry[],
  within: Within,
): Promise<void> {
  if (!returner.updateEndtime) return
  const times = new Map<string, string>()
  for (const { item } of group)
    if (item.kind === 'return' && item.endtime !== undefined) times.set(String(item.ret.jid), item.endtime)
  for (const [jid, time] of times) await within('updateEndtime', () => returner.updateEndtime?.(jid, time))
}

const returnsIn = (group: readonly QueueEntry[]): ReturnRecord[] =>
  group.flatMap(({ item }) => (item.kind === 'return' ? [item.ret as unknown as ReturnRecord] : []))

function grouped(entries: readonly QueueEntry[]): QueueEntry[][] {
  const groups: QueueEntry[][] = []
  for (const queued of entries) {
    const group = groups.at(-1)
    if (group?.[0]?.item.kind === queued.item.kind) group.push(queued)
    else groups.push([queued])
  }
  return groups
}

/** Keep the last return for each pair of jid and minion id. */
const lastOfEach = (rets: readonly ReturnRecord[]): ReturnRecord[] => [
  ...new Map(rets.map((ret) => [`${ret.jid} ${ret.id}`, ret])).values(),
]
