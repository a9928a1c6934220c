import { connectedIds } from '../../cache/connected.ts'
import type { DeliveryTerms } from '../../jobs/deliveries.ts'
import type { WorkerContext } from '../worker/context.ts'

/** How a job is delivered to minions that are away (`deliver_within`). */
export interface Delivery extends DeliveryTerms {
  /** Minions that are not connected now, as far as it is known, and get the job when they are. */
  readonly waiting: readonly string[]
}

type DeliveryContext = Pick<WorkerContext, 'clock' | 'config' | 'minions' | 'starts'>

/** Return why a job cannot wait for minions, as a sentence; undefined if it can. */
export function deliveryRefusal(
  { config, publications }: Pick<WorkerContext, 'config' | 'publications'>,
  seconds: number,
): string | undefined {
  const { job_cache, keep_jobs_seconds: kept } = config
  if (!(seconds > 0) || !Number.isFinite(seconds)) return 'deliver_within must be a number of seconds.'
  if (!job_cache) return 'deliver_within needs the job cache, which is off on this master (job_cache).'
  if (kept > 0 && seconds > kept)
    return `deliver_within is ${seconds} seconds, but jobs are only kept for ${kept} (keep_jobs_seconds).`
  return publications.whyFull()
}

/** Decide until when minions may take a job, which of them are away now, and which cannot take jobs at all. */
export async function planDelivery(
  context: DeliveryContext,
  seconds: number,
  minions: readonly string[],
): Promise<Delivery> {
  const present = new Set(await connectedIds(context.config))
  const except = minions.filter((id) => isPython(context, id, present))
  const others = new Set(except)
  const waiting = minions.filter((id) => !present.has(id) && !others.has(id))
  return { until: context.clock.now() + seconds * 1000, except, waiting }
}

/**
 * Whether a minion is one of Python Salt, by what it has reported: minions of salt-ts report their starts. One of which nothing is
 * known has never been connected, and may be either.
 */
function isPython({ minions, starts }: DeliveryContext, id: string, present: ReadonlySet<string>): boolean {
  const grains = minions.glance('grains', id)
  if (grains) return grains.pythonversion !== undefined
  return starts.of(id).length === 0 && present.has(id)
}
