import { deferred } from '../base/deferred.ts'
import { shortList } from '../base/short-list.ts'
import { connectedIds } from '../jobs/connected.ts'
import { readSentence } from '../loader/read-catalogue.ts'
import { CHECK, type Verdict } from '../wire/catalogue.ts'
import { makeJobLoad } from '../wire/publication.ts'
import type { PublishLoad } from '../wire/publish-request.ts'
import { foreseeJob, type Group, type Offer, withDidYouMean } from './foresight.ts'
import type { WorkerRoom } from './room.ts'

type Room = Pick<WorkerRoom, 'config' | 'nextJid' | 'publish' | 'verdicts'>

/** Minions that would refuse a job, or a function of it, and why. */
export interface Refusal {
  readonly minions: readonly string[]
  readonly reason: string
}

export interface Checked {
  /** No minion would run any of it: each that is connected said so. */
  readonly everywhere: boolean
  readonly refusals: readonly Refusal[]
}

/** Who is silent that long may work: so long, and so much longer for each that is asked. Usually a few hundredths of a second do. */
const PATIENCE_MS = 1_000
const PATIENCE_EACH_MS = 1
const MOST_PATIENCE_MS = 5_000
/** So long those are waited for, after all others, of whom it is not known that they are connected. */
const GRACE_MS = 60

/**
 * Would a job work? Decided by the catalogues the minions report. These may be a few seconds old, and a minion looks at
 * its folders again when a function is unknown, so a job is not refused before they were all asked themselves: one that is
 * silent, or would run it after all, is enough to publish it. Python minions have no quicker way to answer that than the
 * job itself: what is for one of them is never refused.
 */
export async function checkJob(room: Room, request: PublishLoad, offers: readonly Offer[]): Promise<Checked> {
  if (!isCheckable(request)) return { everywhere: false, refusals: [] }
  const groups = foreseeJob(request, offers)
  const refusals = groups.flatMap(refusalsOf)
  if (!groups.every(isRefused)) return { everywhere: false, refusals: merged(refusals) }
  const asked = await ask(room, request, groups)
  return { everywhere: asked.length === groups.length, refusals: merged(asked) }
}

/** An executor may take a call elsewhere, and names in one text are for Python's masters to part. */
function isCheckable({ fun, kwargs }: PublishLoad): boolean {
  return kwargs.module_executors === undefined && !(typeof fun === 'string' && fun.includes(','))
}

const isRefused = ({ calls, python }: Group): boolean =>
  !python && calls?.every((call) => 'refusal' in call) === true && calls.length > 0

function refusalsOf({ minions, calls = [] }: Group): Refusal[] {
  const reasons = calls.flatMap((call) => ('refusal' in call ? withDidYouMean(call.refusal, call.hint) : []))
  return reasons.length > 0 ? [{ minions, reason: reasons.join(' ') }] : []
}

/**
 * The refusals of groups, in the words of their minions, which all have to refuse. Who is not known to be connected may
 * have come just now: they are asked as well, and need not answer.
 */
async function ask(room: Room, request: PublishLoad, groups: readonly Group[]): Promise<Refusal[]> {
  const present = await connectedIds(room.config)
  const known = present && new Set(present)
  const isThere = (id: string) => known?.has(id) ?? true
  const there = groups.map(({ minions }) => minions.filter(isThere))
  const away = groups.map(({ minions }) => minions.filter((id) => !isThere(id)))
  if (there.flat().length === 0) return []
  const verdicts = await question(room, request, there.flat(), away.flat())
  return groups.flatMap((group, index) => {
    const must = (there[index] ?? []).map((id) => verdicts.get(id))
    const may = (away[index] ?? []).flatMap((id) => verdicts.get(id) ?? [])
    if (!must.every(isRefusal) || may.includes(null)) return []
    return [{ minions: group.minions, reason: reasonOf(group, must[0]) }]
  })
}

const isRefusal = (verdict: Verdict['refusals'] | undefined): verdict is readonly string[] =>
  verdict !== undefined && verdict.length > 0 && !verdict.includes(null)

/** Of a group of which nobody is connected, by its catalogue. */
function reasonOf(group: Group, said: readonly string[] | undefined): string {
  if (!said) return refusalsOf(group)[0]?.reason ?? ''
  return said.map((reason, index) => withDidYouMean(readSentence(reason), hintOf(group, index))).join(' ')
}

function hintOf({ calls = [] }: Group, index: number): string | undefined {
  const call = calls[index]
  return call && 'refusal' in call ? call.hint : undefined
}

/** Gives the answers that are there in time. */
async function question(
  room: Room,
  { fun, arg, words, user }: PublishLoad,
  must: readonly string[],
  may: readonly string[],
): Promise<Map<string, Verdict['refusals']>> {
  const ids = [...must, ...may]
  const jid = room.nextJid()
  const job = makeJobLoad({ fun: CHECK, arg: [fun, arg], tgt: ids, tgt_type: 'list', jid, ret: '', user })
  const verdicts = new Map<string, Verdict['refusals']>()
  const silent = new Set(must)
  const enough = deferred()
  const close = room.verdicts.open({ jid, ids, calls: [fun].flat().length }, (id, refusals) => {
    verdicts.set(id, refusals)
    if (silent.delete(id) && silent.size === 0) setTimeout(enough.resolve, may.length > 0 ? GRACE_MS : 0)
  })
  const patience = Math.min(PATIENCE_MS + PATIENCE_EACH_MS * must.length, MOST_PATIENCE_MS)
  const late = setTimeout(enough.resolve, patience)
  try {
    await room.publish(job, ids, words)
    await enough.promise
  } finally {
    clearTimeout(late)
    close()
  }
  return verdicts
}

/** Minions of one reason together. */
function merged(refusals: readonly Refusal[]): Refusal[] {
  const byReason = new Map<string, string[]>()
  for (const { minions, reason } of refusals)
    byReason.set(reason, [...(byReason.get(reason) ?? []), ...minions])
  return Array.from(byReason, ([reason, minions]) => ({ minions: minions.sort(), reason }))
}

/** The sentence for who wanted the job. */
export function refusedSentence(refusals: readonly Refusal[]): string {
  const why = 'No command was sent, because no minion would run it'
  if (refusals.length === 1) return `${why}: ${refusals[0]?.reason}`
  return [
    `${why}:`,
    ...refusals.map(({ minions, reason }) => `${shortList(minions, SHOWN)}: ${reason}`),
  ].join('\n')
}

const SHOWN = 5
