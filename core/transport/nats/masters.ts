import { createInbox, type Msg, type NatsConnection, type Subscription } from '@nats-io/transport-node'
import type { ConnectionState } from '../connection-state.ts'
import type { SubscribeSettings } from '../contract.ts'
import { messagesTo } from './connection.ts'
import { type HelloAnswer, type PublisherNotice, packMessage, readHelloAnswer } from './presence.ts'
import type { Roster } from './roster.ts'
import type { Subjects } from './subjects.ts'

/** A master that has not answered a hello for this long is gone. */
const ANSWER_MS = 3_000
const FIRST_INTERVAL_MS = 5_000
/** Maximum number of known publishers, since anybody can answer a hello. */
const MAX_PUBLISHERS = 64
/** Interval of hellos that report dropped publications. */
const DROPPED_MS = 500

interface MastersSettings {
  readonly connection: NatsConnection
  readonly subjects: Subjects
  readonly settings: Pick<SubscribeSettings, 'topics' | 'introduction' | 'reconnectMs' | 'reconnectMaxMs'>
  /** Set to up while a master is there. */
  readonly state: ConnectionState
  /** Collects the names of the masters that answer. */
  readonly roster: Roster
  /** Random name of the subscriber. */
  readonly name: string
}

/** Finds the masters that publish to a subscriber, and announces the subscriber to them, by hellos. */
export class Masters {
  readonly #settings: MastersSettings
  readonly #answers: Subscription
  readonly #inbox: string
  /** The names of the masters that answered the last hello, or have answered since, by publisher. */
  #present = new Map<string, string | undefined>()
  /** Those that were present when the last hello was sent. */
  #before = new Set<string>()
  /** Those that have answered it. */
  #answered = new Map<string, string | undefined>()
  #intervalMs = FIRST_INTERVAL_MS
  #wait: number
  #dropped = 0
  #isIntroduced = false
  #isClosed = false
  #nextHello: NodeJS.Timeout | undefined
  #nextHelloAt = Number.POSITIVE_INFINITY
  #judging: NodeJS.Timeout | undefined

  constructor(settings: MastersSettings) {
    const { connection, subjects } = settings
    this.#settings = settings
    this.#wait = this.#firstWait
    this.#inbox = createInbox(subjects.inbox)
    this.#answers = connection.subscribe(
      this.#inbox,
      messagesTo((message) => this.#hear(message)),
    )
  }

  /** The connection to NATS was lost. */
  lost(): void {
    clearTimeout(this.#judging)
    this.#present.clear()
    this.#note()
    this.#settings.state.set('down')
  }

  /** The connection to NATS is there, for the first time or again. */
  found(): void {
    this.#isIntroduced = false
    this.#helloWithin(0)
  }

  /** A master starts or stops. */
  notice(notice: PublisherNotice | undefined): void {
    if (notice?.state === 'up') {
      this.#isIntroduced = false
      // It may publish a job before it has received a hello, and must get the return.
      if (notice.name !== undefined) this.#settings.roster.announce(notice.name)
      this.#helloWithin(Math.random() * this.#firstWait)
    } else if (notice && this.#present.delete(notice.publisher)) {
      this.#answered.delete(notice.publisher)
      this.#note()
      if (this.#present.size === 0) this.#noMaster()
    }
  }

  /** A publication was not taken, since the queue is full. */
  dropped(): void {
    this.#dropped++
    this.#helloWithin(DROPPED_MS)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#nextHello)
    clearTimeout(this.#judging)
    this.#answers.unsubscribe()
    const { connection, subjects, name } = this.#settings
    if (!connection.isClosed())
      connection.publish(subjects.presence, packMessage({ subscriber: name, dropped: this.#dropped }))
  }

  get #firstWait(): number {
    return this.#settings.settings.reconnectMs ?? 1_000
  }

  /** Send a hello after `ms` milliseconds, unless an earlier one is due. */
  #helloWithin(ms: number): void {
    const at = performance.now() + ms
    if (this.#isClosed || at >= this.#nextHelloAt) return
    clearTimeout(this.#nextHello)
    this.#nextHelloAt = at
    this.#nextHello = setTimeout(() => this.#hello(), ms)
  }

  #hello(): void {
    this.#nextHelloAt = Number.POSITIVE_INFINITY
    clearTimeout(this.#judging)
    this.#before = new Set(this.#present.keys())
    this.#answered = new Map()
    const { announced } = this.#settings.roster
    this.#judging = setTimeout(() => this.#judge(announced), ANSWER_MS)
    void this.#send()
  }

  async #send(): Promise<void> {
    const { connection, subjects, settings, name } = this.#settings
    const introduction = this.#isIntroduced
      ? undefined
      : await settings.introduction?.().catch(() => undefined)
    if (this.#isClosed) return
    connection.publish(
      subjects.presence,
      packMessage({
        subscriber: name,
        topics: settings.topics,
        dropped: this.#dropped,
        ...(introduction && { introduction }),
      }),
      { reply: this.#inbox },
    )
  }

  #hear(message: Msg): void {
    const answer = readHelloAnswer(message.data)
    if (message.headers?.code === NO_RESPONDERS) this.#noMaster()
    else if (answer) this.#answer(answer)
  }

  #answer(answer: HelloAnswer): void {
    if (this.#present.size >= MAX_PUBLISHERS && !this.#present.has(answer.publisher)) return
    this.#isIntroduced = true
    this.#wait = this.#firstWait
    this.#intervalMs = answer.intervalMs
    this.#answered.set(answer.publisher, answer.name)
    this.#present.set(answer.publisher, answer.name)
    this.#note()
    this.#settings.state.set('up')
    this.#helloWithin(this.#intervalMs * (0.9 + 0.2 * Math.random()))
  }

  #note(): void {
    const names = new Set(this.#present.values())
    this.#settings.roster.set([...names].filter((name) => name !== undefined))
  }

  /**
   * Decide after a hello which masters are present. `announced` are the masters that had announced their start before the hello.
   */
  #judge(announced: readonly string[]): void {
    const isAnyLeft = [...this.#before].some((publisher) => this.#answered.has(publisher))
    this.#present = new Map(this.#answered)
    this.#settings.roster.forgetAnnounced(announced)
    this.#note()
    if (this.#present.size === 0) this.#noMaster()
    else if (this.#before.size > 0 && !isAnyLeft) {
      // All masters were replaced without a gap, perhaps because the only one was restarted.
      this.#settings.state.set('down')
      this.#settings.state.set('up')
    }
  }

  #noMaster(): void {
    clearTimeout(this.#judging)
    this.#present.clear()
    this.#note()
    this.#settings.state.set('down')
    const { reconnectMaxMs = 10_000 } = this.#settings.settings
    const random = reconnectMaxMs === 0 ? Math.random() * this.#wait : 0
    this.#helloWithin(this.#wait + random)
    this.#wait = Math.min(2 * this.#wait, Math.max(reconnectMaxMs, this.#firstWait))
  }
}

/** Status of the message by which NATS reports that a subject has no subscribers. */
const NO_RESPONDERS = 503
