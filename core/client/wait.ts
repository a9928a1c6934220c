import type { MasterConfig } from '../config/index.ts'
import type { Event } from '../events/index.ts'
import { tags } from '../events/index.ts'
import { connections } from '../jobs/connected.ts'
import { isRecord } from '../wire/bytes.ts'
import type { MinionResult, PublishedJob } from './contract.ts'
import { missingSentence, storedResults } from './missing.ts'
import { Waiting } from './return-stream.ts'

export interface CollectSettings {
  readonly published: PublishedJob
  /** Events of all jobs, from before the job was published. */
  readonly events: AsyncIterable<Event> & { close(): void }
  /** Seconds. */
  readonly timeout: number
  readonly gatherJobTimeout: number
  findJob(jid: string, minions: readonly string[]): Promise<PublishedJob>
  readonly config: MasterConfig
}

/** An answered or expired question to silent minions. */
interface Question {
  readonly jid: string
  readonly until: number
  readonly open: Set<string>
}

const seconds = (count: number) => count * 1000

/**
 * Results of a job as they come (wire protocol §13.3): minions that are silent for `timeout` are asked with
 * `saltutil.find_job` whether they still work on it; each that does gets another `timeout`, the others are missing.
 */
export async function* collect(settings: CollectSettings): AsyncGenerator<MinionResult> {
  const { published, events, timeout, config } = settings
  const { jid } = published
  const waiting = new Waiting(published, Date.now() + seconds(timeout))
  const stream = events[Symbol.asyncIterator]()
  let question: Question | undefined
  let next = stream.next()
  try {
    for (const id of published.missing) yield { id, state: 'missing', reason: missingSentence('no-key', id) }
    while (!waiting.complete) {
      const until = question?.until ?? waiting.nextDeadline()
      const event = await before(next, until)
      if (event) {
        next = stream.next()
        if (event.done) break
        const result = take(event.value)
        if (result) yield result
        if (question && !question.open.size) question = undefined
        continue
      }
      if (question) {
        yield* giveUp(question)
        question = undefined
      } else question = await ask()
    }
    yield* lost()
  } finally {
    events.close()
  }

  function take({ tag, data }: Event): MinionResult | undefined {
    if (tag === jid || tag.startsWith(tags.job(jid))) {
      return waiting.accept({ tag, data }, Date.now() + seconds(timeout))
    }
    const { id } = data
    if (!question || typeof id !== 'string' || tag !== tags.jobReturn(question.jid, id)) return undefined
    if (isRecord(data.return) && Object.keys(data.return).length) {
      waiting.extend(id, Date.now() + seconds(timeout))
      question.open.delete(id)
    }
    return undefined
  }

  async function ask(): Promise<Question | undefined> {
    const overdue = waiting.overdue(Date.now())
    if (!overdue.length) return undefined
    const asked = await settings.findJob(jid, overdue).catch(() => undefined)
    return {
      jid: asked?.jid ?? '',
      until: Date.now() + seconds(settings.gatherJobTimeout),
      open: new Set(overdue),
    }
  }

  /** Who did not say that the job still runs is missing, unless its return is in the job cache after all. */
  async function* giveUp({ open }: Question): AsyncGenerator<MinionResult> {
    const silent = waiting.silent().filter((id) => open.has(id))
    const stored = await storedResults(config, jid, silent)
    const lost = (await connections(config))?.lost ?? []
    for (const id of silent) {
      waiting.giveUp(id)
      const why = lost.includes(id) ? 'not-connected' : 'no-response'
      yield stored.get(id) ?? { id, state: 'missing', reason: missingSentence(why, id, jid) }
    }
  }

  /** The event bus ended: the master is gone. */
  async function* lost(): AsyncGenerator<MinionResult> {
    const silent = waiting.silent()
    const stored = silent.length ? await storedResults(config, jid, silent) : new Map<string, MinionResult>()
    for (const id of silent) {
      yield stored.get(id) ?? { id, state: 'missing', reason: missingSentence('master-gone', id, jid) }
    }
  }
}

/** The value, or undefined when the moment has come first. */
async function before<T>(value: Promise<T>, moment: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, moment - Date.now()), undefined)
  })
  try {
    return await Promise.race([value, late])
  } finally {
    clearTimeout(timer)
  }
}
