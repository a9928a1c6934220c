import { deferred } from '../../base/deferred.ts'
import { shortList } from '../../base/sentence.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { connectedIds } from '../../cache/connected.ts'
import { readSentence } from '../../loader/describe/read-catalogue.ts'
import { type CallCheckReport, CHECK_FUNCTION } from '../../wire/catalogue.ts'
import { makeJobLoad, publishedBy } from '../../wire/publication.ts'
import type { PublishLoad, Refusal } from '../../wire/publish-request.ts'
import type { WorkerContext } from '../worker/context.ts'
import { type OfferedCatalogue, type PreflightGroup, preflightJob, withDidYouMean } from './preflight-job.ts'

type CheckContext = Pick<WorkerContext, 'config' | 'nextJid' | 'publish' | 'callChecks'>

export interface JobCheck {
  /** No minion would run any of it: each connected one reported that. */
  readonly everywhere: boolean
  readonly refusals: readonly Refusal[]
}

/**
 * How long to wait for answers: a base plus a share per minion. They usually arrive within some 30 ms, and within a second if a minion
 * has to load TypeScript for the first time.
 */
const WAIT_MS = 2_000
const WAIT_EACH_MS = 1
const MAX_WAIT_MS = 5_000
/** How long to wait, after all other answers, for minions that are not known to be connected. */
const GRACE_MS = 60

/**
 * Check whether the minions would run a job, by the catalogues that they have reported. These may be a few seconds old, and
 * a minion reads its folders again when a function is unknown. So before a job is refused all minions are asked: if one is
 * silent, or would run it after all, the job is published. Python minions cannot be asked any quicker than by the job
 * itself: a job for one of them is never refused.
 */
export async function checkJob(
  context: CheckContext,
  request: PublishLoad,
  offers: readonly OfferedCatalogue[],
): Promise<JobCheck> {
  if (!isCheckable(request)) return { everywhere: false, refusals: [] }
  const groups = preflightJob(request, offers)
  const refusals = groups.flatMap(refusalsOf)
  if (!groups.every(isRefused)) return { everywhere: false, refusals: merged(refusals) }
  const { everywhere, refusals: answered } = await ask(context, request, groups)
  return { everywhere, refusals: merged(answered) }
}

/** An executor may run a call elsewhere, and a comma-separated list of functions is only split by masters of Python Salt. */
function isCheckable({ fun, kwargs }: PublishLoad): boolean {
  return kwargs.module_executors === undefined && !(typeof fun === 'string' && fun.includes(','))
}

const isRefused = ({ calls, python }: PreflightGroup): boolean =>
  !python && calls?.every((call) => 'refusal' in call) === true && calls.length > 0

function refusalsOf({ minions, calls = [] }: PreflightGroup): Refusal[] {
  const reasons = calls.flatMap((call) => ('refusal' in call ? withDidYouMean(call.refusal, call.hint) : []))
  return reasons.length > 0 ? [{ minions, reason: reasons.join(' ') }] : []
}

/**
 * Ask the minions. A connected minion that does not answer may have the function by now, so the job is published to it. Minions
 * that are not known to be connected are asked as well, since they may have just connected. They need not answer; if they do not,
 * their catalogue counts.
 */
async function ask(
  context: CheckContext,
  request: PublishLoad,
  groups: readonly PreflightGroup[],
): Promise<JobCheck> {
  const present = await connectedIds(context.config)
  const known = present && new Set(present)
  const isThere = (id: string) => known?.has(id) ?? true
  const there = groups.map(({ minions }) => minions.filter(isThere))
  const away = groups.map(({ minions }) => minions.filter((id) => !isThere(id)))
  if (there.flat().length === 0) return { everywhere: false, refusals: groups.flatMap(refusalsOf) }
  const reports = await askMinions(context, request, there.flat(), away.flat())
  const answers = groups.map((group, index) => {
    const must = (there[index] ?? []).map((id) => reports.get(id))
    const may = (away[index] ?? []).map((id) => reports.get(id))
    const isContradicted = [...must, ...may].some((report) => report !== undefined && !isRefusal(report))
    const said = must.find(isRefusal)
    return {
      group,
      said,
      refusing: said ? group.minions : away[index],
      isContradicted,
      isCertain: must.every(isRefusal),
    }
  })
  return {
    everywhere: answers.every(({ isContradicted, isCertain }) => isCertain && !isContradicted),
    refusals: answers.flatMap(({ group, said, refusing = [], isContradicted }) =>
      isContradicted || refusing.length === 0 ? [] : [{ minions: refusing, reason: reasonOf(group, said) }],
    ),
  }
}

const isRefusal = (report: CallCheckReport['refusals'] | undefined): report is readonly string[] =>
  report !== undefined && report.length > 0 && !report.includes(null)

/** Return the reason that a minion of the group gave, or the one that the catalogue predicts if none of them answered. */
function reasonOf(group: PreflightGroup, said: readonly string[] | undefined): string {
  if (!said) return refusalsOf(group)[0]?.reason ?? ''
  return said.map((reason, index) => withDidYouMean(readSentence(reason), hintOf(group, index))).join(' ')
}

function hintOf({ calls = [] }: PreflightGroup, index: number): string | undefined {
  const call = calls[index]
  return call && 'refusal' in call ? call.hint : undefined
}

/** Ask the minions what they would do with the calls, and return the reports that come in time. */
async function askMinions(
  context: CheckContext,
  { fun, arg, words, user }: PublishLoad,
  must: readonly string[],
  may: readonly string[],
): Promise<Map<string, CallCheckReport['refusals']>> {
  const ids = [...must, ...may]
  const jid = context.nextJid()
  const job = makeJobLoad({
    fun: CHECK_FUNCTION,
    arg: [fun, arg],
    tgt: ids,
    tgt_type: 'list',
    jid,
    ret: '',
    user,
    ...publishedBy(context.config),
  })
  const reports = new Map<string, CallCheckReport['refusals']>()
  const silent = new Set(must)
  const enough = deferred()
  const close = context.callChecks.open({ jid, ids, calls: [fun].flat().length }, (id, refusals) => {
    reports.set(id, refusals)
    if (silent.delete(id) && silent.size === 0) setTimeout(enough.resolve, may.length > 0 ? GRACE_MS : 0)
  })
  const waitMs = Math.min(WAIT_MS + WAIT_EACH_MS * must.length, MAX_WAIT_MS)
  try {
    await context.publish(job, ids, words)
    await endsWithin(enough.promise, waitMs)
  } finally {
    close()
  }
  return reports
}

/** Group the minions by reason. */
function merged(refusals: readonly Refusal[]): Refusal[] {
  const byReason = new Map<string, string[]>()
  for (const { minions, reason } of refusals)
    byReason.set(reason, [...(byReason.get(reason) ?? []), ...minions])
  return Array.from(byReason, ([reason, minions]) => ({ minions: minions.sort(), reason }))
}

/** Return the message for the caller. */
export function refusalMessage(refusals: readonly Refusal[]): string {
  const why = 'No command was sent, because no minion would run it'
  if (refusals.length === 1) return `${why}: ${refusals[0]?.reason}`
  return [
    `${why}:`,
    ...refusals.map(({ minions, reason }) => `${shortList(minions, MAX_SHOWN_IDS)}: ${reason}`),
  ].join('\n')
}

const MAX_SHOWN_IDS = 5
