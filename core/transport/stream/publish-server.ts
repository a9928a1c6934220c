import { setTimeout } from 'node:timers/promises'
import { encodeNetwork } from '../../codec/index.ts'
import type { PublishServer, ServerSettings } from '../contract.ts'
import { accepts } from '../topics.ts'
import type { Link, Message, StreamProtocol } from './contract.ts'
import { readSubscription, type Subscription } from './introduction.ts'
import { openLinks } from './links.ts'
import { wrap } from './publication.ts'

/** How long a publication waits for subscribers with full queues. */
const PATIENCE_MS = 100
/** Time in which further publications do not wait, after one has waited without success. */
const IMPATIENCE_MS = 10_000
/** Time after which the connection of a peer that reads none of its queued data is closed. */
const STALLED_MS = 60_000
/** Bytes that may be queued for a subscriber, unless they are of one publication. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024
/** Maximum size of a message of a subscriber, which sends nothing but its introduction. */
const MAX_INTRODUCTION_BYTES = 64 * 1024
const TICK_MS = 500
/** After this time a connection counts as a subscriber to everything: minions of Python Salt over WebSocket send nothing. */
const SILENT_MS = 1_000

const NO_HEAD = encodeNetwork({})
const EVERYTHING: Subscription = { topics: [], pingMs: 0 }

/** A connected subscriber. */
class Peer {
  readonly link: Link
  readonly since = performance.now()
  subscription: Subscription | undefined
  #lastPing = 0
  #sentBytes = 0
  #lastProgress = performance.now()

  constructor(link: Link) {
    this.link = link
  }

  get isSubscriber(): boolean {
    return this.subscription !== undefined || performance.now() - this.since > SILENT_MS
  }

  /** Send a sign of life if one is due, and close a connection whose peer takes nothing. */
  tick(now: number): void {
    const { link, subscription } = this
    if (link.unsent === 0 || link.sentBytes !== this.#sentBytes) this.#lastProgress = now
    this.#sentBytes = link.sentBytes
    if (now - this.#lastProgress > STALLED_MS) link.destroy()
    const pingMs = subscription?.pingMs ?? 0
    if (pingMs === 0 || now - this.#lastPing < pingMs - TICK_MS / 2 || link.unsent > 0) return
    this.#lastPing = now
    link.ping()
  }
}

/** Publish to the connections of a port. */
export async function servePublish(
  protocol: StreamProtocol,
  settings: ServerSettings,
): Promise<PublishServer> {
  const { highWaterMark = 1_000, identify } = settings
  const peers = new Map<Link, Peer>()

  async function introduce(peer: Peer, { head, body }: Message): Promise<void> {
    const subscription = readSubscription(head)
    if (subscription) peer.subscription = subscription
    else if (identify && peer.subscription === undefined) {
      peer.subscription = EVERYTHING // at most one is verified
      const addressed = await identify(body)
      if (addressed) peer.subscription = { topics: ['', ...addressed], addressed, pingMs: 0 }
    }
  }

  const links = await openLinks(protocol, { ...settings, maxFrameSize: MAX_INTRODUCTION_BYTES }, (link) => {
    const peer = new Peer(link)
    peers.set(link, peer)
    return {
      onMessage: (message) => void introduce(peer, message).catch(() => link.destroy()),
      onClose: () => void peers.delete(link),
    }
  })
  const ticking = setInterval(() => {
    const now = performance.now()
    for (const peer of peers.values()) peer.tick(now)
  }, TICK_MS)

  const isFull = ({ link }: Peer, size: number) =>
    link.unsent >= highWaterMark || (link.unsent > 0 && link.unsentBytes + size > MAX_UNSENT_BYTES)
  let impatientUntil = 0
  let dropped = 0

  /** Send to the subscribers whose queues have room. The others get a moment to make room, and then miss the publication. */
  async function send(publication: Uint8Array, topic: string | undefined): Promise<void> {
    const message = { head: NO_HEAD, body: wrap(publication) }
    let left = [...peers.values()].filter(({ subscription = EVERYTHING }) => accepts(subscription, topic))
    const started = performance.now()
    const patience = started < impatientUntil ? 0 : PATIENCE_MS
    while (true) {
      const full: Peer[] = []
      for (const peer of left)
        if (isFull(peer, publication.length)) full.push(peer)
        else peer.link.send(message)
      left = full.filter(({ link }) => peers.has(link))
      if (left.length === 0) return
      if (performance.now() - started >= patience) break
      await setTimeout(1)
    }
    impatientUntil = performance.now() + IMPATIENCE_MS
    dropped++
  }

  /** Resolves when the publications so far are sent, or have failed. */
  let sent: Promise<void> = Promise.resolve()
  return {
    port: links.port,
    publish(payload, topic) {
      const sending = sent.then(() => send(payload, topic))
      sent = sending.catch(() => {}) // the caller gets the error
      return sending
    },
    get subscribers() {
      return [...peers.values()].filter(({ isSubscriber }) => isSubscriber).length
    },
    get topics() {
      const topics = new Set([...peers.values()].flatMap(({ subscription }) => subscription?.topics ?? []))
      topics.delete('')
      return topics
    },
    get dropped() {
      return dropped
    },
    async close() {
      clearInterval(ticking)
      await links.close()
    },
  }
}
