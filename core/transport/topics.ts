import type { SubscribeSettings } from './contract.ts'

type Topics = Pick<SubscribeSettings, 'addressed' | 'topics'>

/** Every subscriber of Salt has one of these topics: everything, or with `zmq_filtering` the topic `broadcast`. */
export const COMMON_TOPICS = ['', 'broadcast']

/** Whether a subscriber subscribes to everything. */
export const subscribesToAll = (topics: readonly string[]): boolean =>
  topics.length === 0 || topics.includes('')

/** Whether the subscriber accepts a publication under this topic (wire protocol §9). */
export function isAddressed(topic: string, { addressed, topics }: Topics): boolean {
  if (addressed) return addressed.includes(topic)
  return subscribesToAll(topics) || topics.includes(topic)
}

/** Whether a subscriber gets a publication under this topic, or without one. */
export const accepts = (settings: Topics, topic: string | undefined): boolean =>
  topic === undefined ||
  ((subscribesToAll(settings.topics) || settings.topics.includes(topic)) && isAddressed(topic, settings))
