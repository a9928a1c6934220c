import { isJid, jidTime } from '../../base/jid.ts'
import type { DeliveryTerms } from '../../jobs/deliveries.ts'
import type { WorkerContext } from '../worker/context.ts'

/** A job to store, without its id. */
export interface NewJob {
  readonly load: Readonly<Record<string, unknown>>
  readonly minions: readonly string[]
  /** Members of `minions` that the target may not match: the master lacks their grains or pillar. */
  readonly unknown?: readonly string[] | undefined
  /** Syndics that will report which minions below them also run it. */
  readonly awaits?: readonly string[] | undefined
  /** The id that the client asks for. */
  readonly wanted?: string
  /** How long its minions may take it, with `deliver_within`. */
  readonly deliver?: DeliveryTerms | undefined
  /** The batch to which this wave belongs, together with a wanted id. The wave is not stored if the batch was stopped. */
  readonly batch?: string | undefined
}

/**
 * Store a job under a new id, or under the wanted one, and return the id (wire protocol §13.1). Undefined if the wanted id is
 * taken or not valid, or the batch of the job was stopped. Rejects with STORE_FAILED; the job must not be published then.
 */
export async function storeJob(
  context: Pick<WorkerContext, 'jobs' | 'nextJid' | 'config'>,
  { load, minions, unknown, awaits, wanted, deliver, batch }: NewJob,
): Promise<string | undefined> {
  const take = (jid: string) =>
    context.config.job_cache
      ? context.jobs.create(jid, { ...load, jid }, minions, { unknown, awaits, deliver, batch })
      : context.jobs.reserve(jid, minions)
  if (wanted) return isJid(wanted) && (await take(wanted)) ? wanted : undefined
  for (;;) {
    const jid = context.nextJid()
    if (await take(jid)) return jid
  }
}

/** How old a job id chosen by a client may be, such as that of a repeated job, and how far the client's clock may be ahead. */
const MAX_AGE_MS = 86_400_000
const MAX_AHEAD_MS = 300_000

/**
 * Return why a caller without all rights may not choose this id; undefined if they may. Jobs are listed, searched and
 * imported by the time in their id: one with another time would hide, or be listed before all others. `now` is a current id.
 */
export function chosenJidRefusal(wanted: string, now: string): string | undefined {
  if (!isJid(wanted)) return undefined
  const ahead = jidTime(wanted).getTime() - jidTime(now).getTime()
  if (ahead >= -MAX_AGE_MS && ahead <= MAX_AHEAD_MS) return undefined
  return `The job id ${wanted} is out of range: its time must be between one day ago and five minutes ahead of the master's clock, in UTC (${now}). Leave it out, and the master assigns one.`
}
