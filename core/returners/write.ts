import type { EventRecord, LoadRecord, Returner, ReturnRecord } from '../author/returner.ts'
import type { QueuedParcel } from '../jobs/outbox.ts'

export interface Writing {
  /** Of a batch of events; the same whenever these are written. */
  readonly batch: string
  /** A call that lasts longer counts as failed. Milliseconds. */
  readonly timeoutMs: number
  /** Parcels the store took are added, also when what follows them fails. */
  readonly taken: QueuedParcel[]
}

/**
 * Write parcels in the order in which they came, neighbours of a kind together. What a store does not keep counts as
 * written.
 */
export async function write(
  returner: Returner,
  parcels: readonly QueuedParcel[],
  { batch, timeoutMs, taken }: Writing,
): Promise<void> {
  const within: Within = (what, call) => withDeadline(what, timeoutMs, call)
  for (const [index, group] of grouped(parcels).entries()) {
    const kind = group[0]?.parcel.kind
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

/** Rejects if the call has not ended in time. What it does later is not waited for. */
export async function withDeadline<T>(what: string, ms: number, call: () => T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const sentence = `Its ${what} did not end within ${ms / 1000} seconds.`
    timer = setTimeout(() => reject(new Error(sentence)), ms)
  })
  try {
    return await Promise.race([call(), late])
  } finally {
    clearTimeout(timer)
  }
}

async function saveJob(returner: Returner, { parcel }: QueuedParcel, within: Within): Promise<void> {
  if (parcel.kind === 'load') {
    await within('prepJid', () => returner.prepJid?.(parcel.jid))
    await within('saveLoad', () => returner.saveLoad?.(parcel satisfies LoadRecord))
  } else if (parcel.kind === 'minions')
    await within('saveMinions', () => returner.saveMinions?.(parcel.jid, parcel.minions))
}

async function saveEach(
  returner: Returner,
  group: readonly QueuedParcel[],
  within: Within,
  taken: QueuedParcel[],
): Promise<void> {
  for (const queued of group) {
    for (const ret of returnsIn([queued])) await within('save', () => returner.save(ret))
    await updateEndtimes(returner, [queued], within)
    taken.push(queued)
  }
}

async function saveTogether(
  returner: Returner,
  group: readonly QueuedParcel[],
  within: Within,
): Promise<void> {
  const rets = lastOfEach(returnsIn(group))
  const [only, ...others] = rets
  if (only && others.length === 0) await within('save', () => returner.save(only))
  else await within('saveBatch', () => returner.saveBatch?.(rets))
  await updateEndtimes(returner, group, within)
}

async function saveEvents(
  returner: Returner,
  group: readonly QueuedParcel[],
  batch: string,
  within: Within,
): Promise<void> {
  const events: EventRecord[] = group.flatMap(({ parcel }) => (parcel.kind === 'event' ? [parcel] : []))
  await within('saveEvents', () => returner.saveEvents?.(events, batch))
}

/** Of each job once: what came last is there last. */
async function updateEndtimes(
  returner: Returner,
  group: readonly QueuedParcel[],
  within: Within,
): Promise<void> {
  if (!returner.updateEndtime) return
  const times = new Map<string, string>()
  for (const { parcel } of group)
    if (parcel.kind === 'return' && parcel.endtime !== undefined)
      times.set(String(parcel.ret.jid), parcel.endtime)
  for (const [jid, time] of times) await within('updateEndtime', () => returner.updateEndtime?.(jid, time))
}

const returnsIn = (group: readonly QueuedParcel[]): ReturnRecord[] =>
  group.flatMap(({ parcel }) => (parcel.kind === 'return' ? [parcel.ret as unknown as ReturnRecord] : []))

function grouped(parcels: readonly QueuedParcel[]): QueuedParcel[][] {
  const groups: QueuedParcel[][] = []
  for (const queued of parcels) {
    const group = groups.at(-1)
    if (group?.[0]?.parcel.kind === queued.parcel.kind) group.push(queued)
    else groups.push([queued])
  }
  return groups
}

/** One (jid, id) may be there twice; the later is the one that counts. */
const lastOfEach = (rets: readonly ReturnRecord[]): ReturnRecord[] => [
  ...new Map(rets.map((ret) => [`${ret.jid} ${ret.id}`, ret])).values(),
]
