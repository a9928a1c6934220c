import { decodeUntrusted, encodeNetwork } from '../../codec/index.ts'
import type { SubscribeSettings } from '../contract.ts'
import type { Message } from './contract.ts'

/** What a subscriber asks for in the head of its first message. Masters of Python Salt ignore it. */
export interface Subscription {
  readonly topics: readonly string[]
  readonly addressed?: readonly string[]
  /** Interval at which the publisher is to send signs of life, in milliseconds; 0 for none. */
  readonly pingMs: number
}

/** An empty map: masters of Python Salt expect one. */
const NOTHING = encodeNetwork({})
/** Topics of one subscriber, at most, and their length. */
const MAX_TOPICS = 16
const MAX_TOPIC = 64
const MAX_HEAD_BYTES = 4_096
const MIN_PING_MS = 500

/** Make the first message of a subscriber. */
export function makeIntroduction(
  { topics, addressed }: Pick<SubscribeSettings, 'topics' | 'addressed'>,
  pingMs: number,
  introduction: Uint8Array = NOTHING,
): Message {
  const head = { topics: [...topics], ...(addressed && { addressed: [...addressed] }), ping: pingMs }
  return { head: encodeNetwork(head), body: introduction }
}

/** Read what a subscriber asks for; undefined if the head does not say, as that of a minion of Python Salt. */
export function readSubscription(head: Uint8Array): Subscription | undefined {
  if (head.length > MAX_HEAD_BYTES) return undefined
  const fields = decodeUntrusted(head) as Record<string, unknown> | null
  const topics = topicsIn(fields?.topics)
  if (!topics) return undefined
  const addressed = topicsIn(fields?.addressed)
  const ping = fields?.ping
  const pingMs = typeof ping === 'number' && ping > 0 ? Math.max(MIN_PING_MS, ping) : 0
  return { topics, ...(addressed && { addressed }), pingMs }
}

function topicsIn(value: unknown): string[] | undefined {
  if (!Array.isArray(value) || value.length > MAX_TOPICS) return undefined
  const isTopic = (topic: unknown) => typeof topic === 'string' && topic.length <= MAX_TOPIC
  return value.every(isTopic) ? (value as string[]) : undefined
}
