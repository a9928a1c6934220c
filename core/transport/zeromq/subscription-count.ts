import { COMMON_TOPICS } from '../topics.ts'

/** Longest topic of Salt, in bytes; longer ones are ignored. */
const MAX_TOPIC = 64
/** Different topics that are counted, at most. */
const MAX_TOPICS = 100_000

/** Counts subscriptions from the messages of an XPUB: `01 <topic>` for a subscription, `00 <topic>` for its end. */
export class SubscriptionCount {
  readonly #counts = new Map<string, number>()

  read(frame: Buffer): void {
    const change = frame[0] === 1 ? 1 : frame[0] === 0 ? -1 : 0
    const isTopic = frame.length <= MAX_TOPIC + 1 && (frame[1] ?? 0) < 0x80
    if (change === 0 || !isTopic) return
    const topic = frame.toString('latin1', 1)
    const count = (this.#counts.get(topic) ?? 0) + change
    if (count <= 0) this.#counts.delete(topic)
    else if (this.#counts.size < MAX_TOPICS || this.#counts.has(topic)) this.#counts.set(topic, count)
  }

  get subscribers(): number {
    return COMMON_TOPICS.reduce((sum, topic) => sum + (this.#counts.get(topic) ?? 0), 0)
  }

  get topics(): ReadonlySet<string> {
    const topics = new Set(this.#counts.keys())
    topics.delete('')
    return topics
  }
}
