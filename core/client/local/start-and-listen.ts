import type { Event, Subscription } from '../../events/index.ts'
import type { MasterEvents } from './master-link.ts'

interface Kept {
  readonly event: Event
  /** Bytes. */
  readonly size: number
}

/** Events that arrive while a job or run is being started. */
interface Early {
  /** Return those of one job since {@link EarlyEvents.begin}, oldest first. */
  of(jid: string): readonly Kept[]
  end(): void
}

const MAX_BYTES = 64 * 1024 * 1024

/**
 * Keeps the events of all jobs, or runs, while the id of one is not known yet because the master has not answered the
 * request: a return may be faster than that answer. Kept once for all requests over one link, and no longer than needed.
 */
class EarlyEvents {
  readonly #bus: MasterEvents
  readonly #family: string
  /** Requests that wait for an id, oldest first: the number of their first event, and what to call when events are lost. */
  readonly #starting = new Map<object, { readonly from: number; readonly onGap: () => void }>()
  #subscription: Subscription | undefined
  /** In the order they came; `#first` is the number of the first one. */
  #kept: (Kept & { readonly jid: string })[] = []
  #first = 0
  /** Number of entries of `#kept` that are not needed any more. */
  #done = 0
  #bytes = 0
  readonly #ofJob = new Map<string, Kept[]>()

  constructor(bus: MasterEvents, family: string) {
    this.#bus = bus
    this.#family = family
  }

  /** `onGap` is called when events were missed. */
  begin(onGap: () => void): Early {
    this.#subscription ??= this.#bus.subscribe(this.#family, undefined, {
      onGap: () => this.#tellGap(),
      onReadable: () => this.#keep(this.#subscription?.shift()),
    })
    const key = {}
    this.#starting.set(key, { from: this.#first + this.#kept.length - this.#done, onGap })
    return {
      of: (jid) => this.#ofJob.get(jid) ?? [],
      end: () => {
        this.#starting.delete(key)
        this.#forget()
      },
    }
  }

  #keep(entry: Kept | undefined): void {
    if (!entry) return
    const { tag } = entry.event
    const { length } = this.#family
    const jid = tag.slice(length, tag.indexOf('/', length))
    this.#kept.push({ ...entry, jid })
    this.#bytes += entry.size
    const ofJob = this.#ofJob.get(jid)
    if (ofJob) ofJob.push(entry)
    else this.#ofJob.set(jid, [entry])
    if (this.#bytes <= MAX_BYTES) return
    while (this.#bytes > MAX_BYTES) this.#drop()
    this.#tellGap()
  }

  #tellGap(): void {
    for (const { onGap } of this.#starting.values()) onGap()
  }

  /** Drop the events from before the oldest open request. */
  #forget(): void {
    const [oldest] = this.#starting.values()
    if (oldest) {
      while (this.#first < oldest.from && this.#done < this.#kept.length) this.#drop()
      return
    }
    this.#subscription?.close()
    this.#subscription = undefined
    this.#first += this.#kept.length - this.#done
    this.#kept = []
    this.#done = 0
    this.#bytes = 0
    this.#ofJob.clear()
  }

  #drop(): void {
    const dropped = this.#kept[this.#done]
    if (!dropped) return
    this.#done++
    this.#first++
    this.#bytes -= dropped.size
    const ofJob = this.#ofJob.get(dropped.jid)
    ofJob?.shift()
    if (ofJob?.length === 0) this.#ofJob.delete(dropped.jid)
    if (this.#done < 1024 || this.#done * 2 < this.#kept.length) return
    this.#kept = this.#kept.slice(this.#done)
    this.#done = 0
  }
}

const byBus = new WeakMap<MasterEvents, Map<string, EarlyEvents>>()

function earlyEvents(bus: MasterEvents, family: string): EarlyEvents {
  const families = byBus.get(bus) ?? new Map<string, EarlyEvents>()
  byBus.set(bus, families)
  const early = families.get(family) ?? new EarlyEvents(bus, family)
  families.set(family, early)
  return early
}

export interface Listener {
  readonly bus: MasterEvents
  /** Prefix of the tags, before the id: `tags.jobs`, `tags.runs`. */
  readonly family: string
  readonly subscription: Subscription
  /** Events were missed. */
  readonly onGap: () => void
}

/** Start a job or run, and deliver its events to the subscription, including those from before its id is known here. */
export async function startAndListen<T extends { readonly jid: string }>(
  { bus, family, subscription, onGap }: Listener,
  start: () => Promise<T>,
): Promise<T> {
  const early = earlyEvents(bus, family).begin(onGap)
  try {
    const started = await start()
    subscription.include(`${family}${started.jid}/`)
    for (const { event, size } of early.of(started.jid)) subscription.deliver(event, size)
    return started
  } finally {
    early.end()
  }
}
