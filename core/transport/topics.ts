import type { SubscribeSettings } from './contract.ts'

/** Whether a subscriber asks for everything. */
export const wantsAll = (topics: readonly string[]): boolean => topics.length === 0 || topics.includes('')

/** Whether a publication under this topic is meant for the subscriber (wire protocol §9). */
export function isAddressed(topic: string, { addressed, topics }: SubscribeSettings): boolean {
  if (addressed) return addressed.includes(topic)
  return wantsAll(topics) || topics.includes(topic)
}
