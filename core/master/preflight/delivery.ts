import { connectedIds } from '../../cache/connected.ts'
import { arePythonGrains } from '../../cache/minion-data.ts'
import type { DeliveryTerms } from '../../jobs/deliveries.ts'
import { MAX_DELIVER_SECONDS } from '../../wire/publish-request.ts'
import type { WorkerContext } from '../worker/context.ts'

/** How a job is delivered to minions that are away (`deliver_within`). */
export interface Delivery extends DeliveryTerms {
  /** Minions that are not known to be connected now. They get the job when they connect. */
  readonly waiting: readonly string[]
}

/** Return why a job cannot wait for minions, as a sentence; undefined if it can. */
export function deliveryRefusal(
  { config, publications }: Pick<WorkerContext, 'config' | 'publications'>,
  seconds: number,
): string | undefined {
  const { job_cache, keep_jobs_seconds: kept } = config
  if (!(seconds >= 1 && seconds <= MAX_DELIVER_SECONDS))
    return `deliver_within must be a number of seconds from 1 to ${MAX_DELIVER_SECONDS} (30 days). Nothing was published.`
  if (!job_cache)
    return 'deliver_within needs the job cache, which is off on this master (job_cache). Nothing was published.'
  if (kept > 0 && seconds > kept)
    return `deliver_within is ${seconds} seconds, but this master keeps jobs for ${kept}. Nothing was published; give less, or raise keep_jobs_seconds.`
  return publications.whyFull()
}

/** Decide which minions may take a job and until when, and which of them are away now. */
export async function planDelivery(
  context: Pick<WorkerContext, 'clock' | 'config' | 'minions' | 'starts'>,
  seconds: number,
  minions: readonly string[],
): Promise<Delivery> {
  const present = new Set(await connectedIds(context.config))
  const takers = minions.filter((id) => !isPython(context, id, present))
  const waiting = takers.filter((id) => !present.has(id))
  return { untilMs: context.clock.now() + seconds * 1000, takers, waiting }
}

/**
 * Whether a minion runs Python Salt, judged by its reports: minions of salt-ts report their starts. A minion about which nothing
 * is known has usually never been connected and may run either. But where generation 2 is accepted, it may be a connected minion
 * of Python Salt, since grains of that generation are not stored.
 */
function isPython(
  { config, minions, starts }: Pick<WorkerContext, 'config' | 'minions' | 'starts'>,
  id: string,
  present: ReadonlySet<string>,
): boolean {
  const grains = minions.glance('grains', id)
  if (grains) return arePythonGrains(grains)
  return starts.of(id).length === 0 && (present.has(id) || config.minimum_auth_version < 3)
}
