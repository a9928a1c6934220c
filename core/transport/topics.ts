import type { SubscribeSettings } from './contract.ts'

/** Whether a subscriber subscribes to everything. */
export const subscribesToAll = (topics: readonly string[]): boolean =>
  topics.length === 0 || topics.includes('')

/** Whether the subscriber accepts a publication under this topic (wire protocol §9). */
export function isAddressed(
  topic: string,
  { addressed, topics }: Pick<SubscribeSettings, 'addressed' | 'topics'>,
): boolean {
  if (addressed) return addressed.includes(topic)
  return subscribesToAll(topics) || topics.includes(topic)
}
