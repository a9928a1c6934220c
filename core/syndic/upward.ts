import type { Log } from '../author/context.ts'
import type { Returner, ReturnRecord } from '../author/returner.ts'
import { SaltError } from '../base/errors.ts'
import { isMinionId, type MinionId } from '../base/minion-id.ts'
import { type Fields, isRecord } from '../base/record.ts'
import type { JobCache } from '../jobs/job-cache.ts'
import { makeSyndicReturn, type SyndicReturn } from '../wire/syndic.ts'
import type { Origins } from './origins.ts'

export interface UpwardSettings {
  /** Id of the syndic. */
  readonly id: string
  /** The master above, as it is configured. */
  readonly master: string
  readonly jobs: JobCache
  readonly origins: Origins
  readonly log: Log
  /** Whether this master gets the jobs that were published on this host: one of several does. */
  takesOwnJobs(): boolean
  /** Report the minions that this syndic speaks for in a job. */
  report(jid: string): Promise<void>
  request(load: Fields): Promise<unknown>
}

/** Functions whose returns stay on this host: those that run on a master itself, and the question about a running job. */
const KEPT_HERE = /^(?:(?:runner|wheel)\.|saltutil\.find_job$)/

/**
 * Return a returner that sends jobs and returns to the master above. The outbox writes to it, and repeats what the master has not
 * acknowledged. Items that are not for this master count as written, but only while the master accepts others. Otherwise the
 * outbox would conclude that the master accepts some items, and put the others aside.
 */
export function openUpward(settings: UpwardSettings): Returner {
  const { origins, master } = settings
  let failure: unknown
  const attempt = async (act: (() => Promise<void>) | undefined) => {
    if (!act && failure !== undefined) throw failure
    try {
      await act?.()
      failure = undefined
    } catch (error) {
      failure = error
      throw error
    }
  }
  const report = (jid: string) =>
    attempt(origins.of(jid).includes(master) ? () => settings.report(jid) : undefined)
  const save = (rets: readonly ReturnRecord[]) => {
    const wanted = rets.filter((ret) => isWanted(ret, settings))
    return attempt(wanted.length > 0 ? () => sendInParts(wanted, settings) : undefined)
  }
  return {
    save: (ret) => save([ret]),
    saveBatch: save,
    saveLoad: ({ jid }) => report(jid),
    saveMinions: (jid) => report(jid),
  }
}

/** Whether a return goes to this master. Rows for minions that did not return are for stores. */
function isWanted(
  { jid, fun, state }: ReturnRecord,
  { origins, master, takesOwnJobs }: UpwardSettings,
): boolean {
  if (state !== undefined) return false
  const from = origins.of(jid)
  if (from.length > 0) return from.includes(master)
  return takesOwnJobs() && !KEPT_HERE.test(String(fun))
}

/**
 * Send returns in one message, or one by one if they are too large together. A return that is too large by itself is replaced by
 * a failed one.
 */
async function sendInParts(rets: readonly ReturnRecord[], settings: UpwardSettings): Promise<void> {
  try {
    await sendNamed(rets, settings)
  } catch (error) {
    if (!SaltError.is(error) || error.code !== 'MESSAGE_TOO_LARGE') throw error
    const [only, ...others] = rets
    if (only && others.length === 0) await sendNamed([{ ...only, ...failed(error.message) }], settings)
    else for (const ret of rets) await sendInParts([ret], settings)
  }
}

const failed = (reason: string) => ({
  return: `The return of this minion did not reach the master above: ${reason} It is on the master below.`,
  retcode: 1,
  success: false,
})

/** Send returns. Resolves with the ones that the master refuses. */
async function send(rets: readonly ReturnRecord[], settings: UpwardSettings): Promise<ReturnRecord[]> {
  const { id, request } = settings
  const jids = new Set(rets.map(({ jid }) => jid))
  const jobs = Array.from(jids, (jid) => {
    const returnsOfJob = rets.filter((ret) => ret.jid === jid)
    return jobOf(jid, returnsOfJob, settings)
  })
  const answer = await request(makeSyndicReturn(id, jobs))
  if (!isAcknowledged(answer))
    throw new Error(
      isRecord(answer) && typeof answer.refused === 'string'
        ? `It says: ${answer.refused}`
        : 'It did not take the returns of this syndic. Does it have order_masters: true?',
    )
  const refused =
    isRecord(answer) && Array.isArray(answer.refused) ? answer.refused.filter(Array.isArray) : []
  return rets.filter((ret) => refused.some(([jid, minion]) => jid === ret.jid && minion === ret.id))
}

/**
 * Send returns. If the master refuses some, report their minions again and send them once more. Those that it refuses again are
 * dropped.
 */
async function sendNamed(rets: readonly ReturnRecord[], settings: UpwardSettings): Promise<void> {
  const refused = await send(rets, settings)
  if (refused.length === 0) return
  for (const jid of new Set(refused.map((ret) => ret.jid))) await settings.report(jid)
  const dropped = await send(refused, settings)
  if (dropped.length > 0)
    settings.log.warn(
      `The master ${settings.master} has dropped ${dropped.length} returns, of minions that this syndic does not speak for there: ${dropped
        .slice(0, 3)
        .map(({ id }) => id)
        .join(', ')}. Do they have keys on that master?`,
    )
}

/** Whether the answer confirms that the returns are on disk, except those that it refuses one by one. */
const isAcknowledged = (answer: unknown): boolean =>
  answer === null || (isRecord(answer) && Array.isArray(answer.refused))

function jobOf(jid: string, rets: readonly ReturnRecord[], { jobs, origins }: UpwardSettings): SyndicReturn {
  const isOwn = origins.of(jid).length === 0
  const load = isOwn ? jobs.load(jid)?.load : undefined
  const returns = new Map<MinionId, Fields>()
  for (const ret of rets) if (isMinionId(ret.id)) returns.set(ret.id, ret)
  const { fun, master_id: masterId } = rets[0] as ReturnRecord & { readonly master_id?: string }
  return { jid, fun, load, returns, masterId }
}
