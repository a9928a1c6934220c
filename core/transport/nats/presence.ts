import { isRecord } from '../../base/record.ts'
import { decode, encodeLocal } from '../../codec/index.ts'
import { asBytes } from '../../wire/bytes.ts'

/**
 * How masters and subscribers find each other, since NATS does not tell. A subscriber sends a hello to all masters from time to
 * time; each answers with its name and the time until the next hello. A subscriber that sends no more hellos is gone, and so is a
 * master that does not answer. Masters announce their start and their stop.
 */

/** Sent to the subject of presence. */
export interface Hello {
  /** Random name of the subscriber. */
  readonly subscriber: string
  /** Absent when it closes. */
  readonly topics?: readonly string[]
  /** Publications that it did not take in time, since its start. */
  readonly dropped: number
  readonly introduction?: Uint8Array
}

/** The answer of a master to a hello. */
export interface HelloAnswer {
  /** Random name of the publisher. */
  readonly publisher: string
  /** Name of its master. */
  readonly name?: string | undefined
  /** Milliseconds until the next hello. */
  readonly intervalMs: number
}

/** Sent to the subject of control. */
export interface PublisherNotice {
  readonly publisher: string
  readonly state: 'up' | 'down'
  /** Name of its master. */
  readonly name?: string | undefined
  /** The group of its master. */
  readonly group?: string | undefined
}

const MAX_NAME = 64
const MAX_MASTER_NAME = 255
const MAX_TOPICS = 8
const MAX_TOPIC = 128
const MAX_INTERVAL_MS = 3_600_000

export const packMessage = (message: Hello | HelloAnswer | PublisherNotice): Uint8Array =>
  encodeLocal({ ...message })

export function readHello(frame: Uint8Array): Hello | undefined {
  const { subscriber, topics, dropped, introduction: given } = mapIn(frame)
  const introduction = asBytes(given)
  if (!isName(subscriber) || typeof dropped !== 'number') return undefined
  if (topics !== undefined && !isTopics(topics)) return undefined
  return {
    subscriber,
    dropped,
    ...(topics !== undefined && { topics }),
    ...(introduction && { introduction }),
  }
}

export function readHelloAnswer(frame: Uint8Array): HelloAnswer | undefined {
  const { publisher, intervalMs, name } = mapIn(frame)
  if (!isName(publisher) || typeof intervalMs !== 'number') return undefined
  return {
    publisher,
    intervalMs: Math.min(Math.max(intervalMs, 100), MAX_INTERVAL_MS),
    ...(isMasterName(name) && { name }),
  }
}

export function readPublisherNotice(frame: Uint8Array): PublisherNotice | undefined {
  const { publisher, state, name, group } = mapIn(frame)
  if (!isName(publisher) || (state !== 'up' && state !== 'down')) return undefined
  return { publisher, state, ...(isMasterName(name) && { name }), ...(isMasterName(group) && { group }) }
}

function mapIn(frame: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value = decode(frame)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME
const isMasterName = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= MAX_MASTER_NAME
const isTopics = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length <= MAX_TOPICS &&
  value.every((topic) => typeof topic === 'string' && topic.length <= MAX_TOPIC)
