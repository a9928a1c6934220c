import { type Event, tags } from '../../events/index.ts'
import { eventJson, type Frame } from './frames.ts'

interface MinionOfJob {
  readonly hasReturned: boolean
  /** Success, return and retcode as JSON, kept since each change of the job writes it again. */
  readonly json: string
}

/** A job as readers of formatted events see it, in Salt's names. */
interface Job {
  jid: string
  start_time: unknown
  minions: Map<string, MinionOfJob>
  fun: unknown
  tgt: unknown
  tgt_type: unknown
  state: 'running' | 'complete'
}

interface MinionSeen {
  readonly id: string
  grains?: unknown
}

/** Limits of what is remembered: jobs, and characters of their returns. */
const MAX_JOBS = 100
const MAX_CHARACTERS = 16 * 1024 * 1024

const EXPECTED: MinionOfJob = { hasReturned: false, json: eventJson({ success: false }) }

/**
 * Jobs and minions as they are now, put together from events (Salt's `format_events`). Salt repeats every job it has
 * seen with each event; here a frame holds one job, once for all changes of a short time.
 */
export class Summaries {
  readonly #grains: boolean
  readonly #jobs = new Map<string, Job>()
  readonly #minions = new Map<string, MinionSeen>()
  readonly #changed = new Set<string>()
  #characters = 0
  #minionsChanged = false

  /** `grains`: show minions with their grains, as a `grains.items` job returns them. */
  constructor({ grains }: { readonly grains: boolean }) {
    this.#grains = grains
  }

  note({ tag, data }: Event): void {
    const [salt, kind, jid = '', what, id] = tag.split('/')
    if (salt !== 'salt') return
    if (kind === 'job' && what === 'new') this.#start(jid, data)
    if (kind === 'job' && what === 'ret' && id !== undefined) this.#return(jid, id, data)
    if (tag === tags.key) this.#key(data)
    if (kind === 'presence') this.#presence(data)
  }

  /** Return frames of what has changed since the last call. */
  *changed(): Generator<Frame, void> {
    for (const jid of this.#changed) {
      this.#changed.delete(jid) // removed first, so that a job that cannot be encoded is not retried endlessly
      const job = this.#jobs.get(jid)
      if (job) yield jobFrame(job)
    }
    if (!this.#minionsChanged) return
    this.#minionsChanged = false
    yield minionsFrame(this.#minions)
  }

  clear(): void {
    this.#jobs.clear()
    this.#minions.clear()
    this.#changed.clear()
    this.#characters = 0
  }

  #start(jid: string, data: Event['data']): void {
    const ids = Array.isArray(data.minions) ? data.minions.map(String) : []
    const minions = new Map(ids.map((id) => [id, EXPECTED]))
    const { fun, tgt, tgt_type } = data
    this.#forget(jid)
    this.#jobs.set(jid, { jid, start_time: data._stamp, minions, fun, tgt, tgt_type, state: 'running' })
    this.#changed.add(jid)
    this.#forgetOldest()
  }

  #return(jid: string, id: string, data: Event['data']): void {
    const job = this.#jobs.get(jid)
    if (!job) return
    const json = eventJson({ return: data.return, retcode: data.retcode, success: data.success === true })
    this.#characters += json.length - lengthOf(job.minions.get(id))
    job.minions.set(id, { hasReturned: true, json })
    this.#changed.add(jid)
    if (this.#grains && job.fun === 'grains.items') this.#see(id, data.return)
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    for (const jid of this.#jobs.keys()) {
      if (this.#jobs.size <= MAX_JOBS && this.#characters <= MAX_CHARACTERS) return
      this.#forget(jid)
    }
  }

  #forget(jid: string): void {
    for (const minion of this.#jobs.get(jid)?.minions.values() ?? []) this.#characters -= lengthOf(minion)
    this.#jobs.delete(jid)
  }

  #key({ act, id }: Event['data']): void {
    if (typeof id !== 'string') return
    if (act === 'delete') this.#minionsChanged = this.#minions.delete(id) || this.#minionsChanged
    if (act === 'accept') this.#see(id)
  }

  #presence({ present, lost, new: added }: Event['data']): void {
    const here = Array.isArray(present) ? new Set(present.map(String)) : undefined
    const gone = here ? [...this.#minions.keys()].filter((id) => !here.has(id)) : namesIn(lost)
    for (const id of gone) this.#minionsChanged = this.#minions.delete(id) || this.#minionsChanged
    for (const id of [...(here ?? []), ...namesIn(added)]) if (!this.#minions.has(id)) this.#see(id)
  }

  #see(id: string, grains?: unknown): void {
    this.#minions.set(id, { ...this.#minions.get(id), id, ...(grains !== undefined && { grains }) })
    this.#minionsChanged = true
  }
}

const namesIn = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

const lengthOf = (minion: MinionOfJob | undefined): number => (minion?.hasReturned ? minion.json.length : 0)

function jobFrame(job: Job): Frame {
  // Salt waits until all have succeeded, so a job with one failure stays "running" forever.
  if ([...job.minions.values()].every(({ hasReturned }) => hasReturned)) job.state = 'complete'
  const plain = Buffer.from(`${jobJson(job)}\n\n`)
  return { sse: plain, plain, websocket: plain.subarray(0, -2), length: plain.length, tag: '', jid: job.jid }
}

function jobJson({ jid, start_time, minions, fun, tgt, tgt_type, state }: Job): string {
  const [before, after] = [
    { jid, start_time },
    { fun, tgt, tgt_type, state },
  ].map((members) => eventJson(members).slice(1, -1))
  const each = Array.from(minions, ([id, { json }]) => `${JSON.stringify(id)}: ${json}`)
  return `{"jobs": {${JSON.stringify(jid)}: {${before}, "minions": {${each.join(', ')}}, ${after}}}}`
}

/** Return all minions: as a list for readers of rest_cherrypy, by id for those of rest_tornado. */
function minionsFrame(minions: ReadonlyMap<string, MinionSeen>): Frame {
  const websocket = Buffer.from(eventJson({ minions: [...minions.values()] }))
  const plain = Buffer.from(`${eventJson({ minions })}\n\n`)
  return { sse: plain, plain, websocket, length: websocket.length + plain.length, tag: '' }
}
