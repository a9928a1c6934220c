/**
 * Judges what became of the jobs of a fleet, once it is healed, by six invariants:
 *
 * 1. every job that was accepted ends in a named state on each of its minions;
 * 2. it begins at most once on each;
 * 3. each that has begun has exactly one return;
 * 4. no state is false: the ledgers agree with the job cache and with what the client was told;
 * 5. nothing acknowledged is lost: what was accepted or announced is in the job cache, byte for byte;
 * 6. processes, open files, memory and temporary files are what they were.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fields } from '../../core/base/record.ts'
import { hasReturned, type MinionResult } from '../../core/client/index.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { readJobCache } from '../harness/stored-returns.ts'
import type { Fleet } from './fleet.ts'
import { type Entry, hostTime, returnOf } from './ledger/entries.ts'
import type { Accepted } from './recorder.ts'
import { growth } from './resources.ts'

type Invariant = 1 | 2 | 3 | 4 | 5 | 6

export interface Broken {
  readonly invariant: Invariant
  readonly jid?: string
  readonly id?: string
  readonly seen: string
}

export interface Verdict {
  /** Jobs that were accepted, for each of their minions. */
  readonly pairs: number
  readonly returned: number
  readonly failed: number
  /** Pairs in another named state. */
  readonly others: number
  /** Pairs that have no return although they begun, were acknowledged, or had to be delivered. */
  readonly lost: number
  /** Pairs that have begun more than once. */
  readonly twice: number
  readonly broken: readonly Broken[]
}

/** How long a fleet may take to come to rest once it is healed. It only bounds how long a failure takes. */
const REST_MS = 90_000
/** Between two looks at a store that the master is writing. */
const LOOK_MS = 500
/** A client may be told of a return so much later than it is announced. */
const LATE_MS = 2_000

/** What the client of a job knows of it. */
export type Told = Pick<Accepted, 'minions' | 'bytes' | 'isEnded' | 'reports'>

/** What is known of one job on one minion. */
export interface Pair {
  readonly jid: string
  readonly id: string
  readonly begins: readonly Entry[]
  readonly ends: readonly Entry[]
  readonly stored: Fields | undefined
  readonly announcedAt: number | undefined
}

export async function judge(fleet: Fleet): Promise<Verdict> {
  const broken: Broken[] = []
  await fleet.heal()
  if (!(await within(REST_MS, () => allAnswer(fleet))))
    broken.push({ invariant: 6, seen: `not all of ${fleet.ids} answer once all faults are over` })
  await within(REST_MS, () => [...fleet.recorder.accepted.values()].every(({ isEnded }) => isEnded))
  // Jobs may still begin: those whose publication was under way when the client gave it up. Each look is one moment of all.
  let pairs = pairsOf(fleet)
  await within(REST_MS, async () => {
    if ([...pairs.values()].every(({ stored }) => stored)) return true
    await delay(LOOK_MS)
    pairs = pairsOf(fleet)
    return false
  })
  for (const [name, pair] of pairs) {
    const begins = fleet.judged.get(name)
    if (begins === undefined) broken.push(...brokenBy(pair, fleet.recorder.accepted.get(pair.jid)))
    else if (pair.begins.length > begins)
      broken.push({ invariant: 2, ...pair, seen: 'it began again in a later trial' })
  }
  const counts = { returned: 0, failed: 0, others: 0, lost: 0, twice: 0 }
  for (const { jid, minions, isEnded } of fleet.recorder.accepted.values()) {
    if (minions.every((id) => fleet.judged.has(nameOf(jid, id)))) continue
    if (!isEnded) broken.push({ invariant: 1, jid, seen: 'the client waits still' })
    const storedOf = (id: string) => pairs.get(nameOf(jid, id))?.stored
    const states = minions.every(storedOf) ? new Map<string, string>() : await statesOf(fleet, jid)
    for (const id of minions) {
      const state = stateIn(storedOf(id)) ?? states.get(id) ?? 'none'
      if (state === 'returned' || state === 'failed') counts[state]++
      else if (UNDER_WAY.has(state))
        broken.push({ invariant: 1, jid, id, seen: `it ended in no state: ${state}` })
      else counts.others++
      if (!storedOf(id)) {
        broken.push({ invariant: 1, jid, id, seen: `it was accepted and not delivered; its state: ${state}` })
      }
    }
  }
  for (const [name, { begins, stored, announcedAt, jid, id }] of pairs) {
    if (fleet.judged.has(name)) continue
    fleet.judged.set(name, begins.length)
    if (begins.length > 1) counts.twice++
    const isOwed = begins.length > 0 || announcedAt !== undefined
    if (!stored && (isOwed || fleet.recorder.accepted.get(jid)?.minions.includes(id))) counts.lost++
  }
  for (const minion of fleet.daemons.slice(1)) {
    const owed = async () => (await fleet.owed(minion)) === 0
    if (!(await within(REST_MS, owed)))
      broken.push({ invariant: 3, id: String(minion.options.id), seen: 'returns stay in its spool' })
  }
  broken.push(...lines(fleet.log(fleet.master), CONFLICT).map((seen) => ({ invariant: 3 as const, seen })))
  let grown: string[] = []
  await within(REST_MS, () => {
    grown = growth(fleet.before, fleet.resources())
    return grown.length === 0
  })
  broken.push(...grown.map((seen) => ({ invariant: 6 as const, seen })))
  return { pairs: counts.returned + counts.failed + counts.others, ...counts, broken }
}

/** No state, or one in which the fleet still works. */
const UNDER_WAY = new Set(['none', 'published', 'received', 'started'])

const stateIn = (stored: Fields | undefined) => stored && (stored.success === true ? 'returned' : 'failed')

const CONFLICT = /a second time with a different result/

/** All that the ledgers, the job cache, the event bus and the client say, by jid and id. */
function pairsOf(fleet: Fleet): Map<string, Pair> {
  const { accepted, announced } = fleet.recorder
  const entries = new Map<string, Entry[]>()
  for (const entry of fleet.ledger()) {
    const name = nameOf(entry.jid, entry.id)
    entries.set(name, [...(entries.get(name) ?? []), entry])
  }
  const expected = [...accepted.values()].flatMap(({ jid, minions }) => minions.map((id) => nameOf(jid, id)))
  const names = new Set([...expected, ...entries.keys(), ...announced.keys()])
  return readJobCache(fleet.cluster, (cache) => {
    const pairOf = (name: string): Pair => {
      const [jid = '', id = ''] = name.split(' ')
      const own = entries.get(name) ?? []
      return {
        jid,
        id,
        begins: own.filter(({ what }) => what === 'begin'),
        ends: own.filter(({ what }) => what === 'end'),
        stored: cache.return(jid, id),
        announcedAt: announced.get(name),
      }
    }
    return new Map(Array.from(names, (name) => [name, pairOf(name)]))
  })
}

const nameOf = (jid: string, id: string): string => `${jid} ${id}`

/** What a pair breaks of the invariants 1 to 5; of one that was not accepted no client knows. */
export function brokenBy(pair: Pair, job: Told | undefined): Broken[] {
  const { jid, id, begins, ends, stored, announcedAt } = pair
  const found: Broken[] = []
  const seen = (invariant: Invariant, text: string) => found.push({ invariant, jid, id, seen: text })
  if (begins.length > 1) seen(2, `it began ${begins.length} times`)
  if (begins.length > 0 && !stored) seen(3, 'it began and has no return')
  if (announcedAt !== undefined && !stored) seen(5, 'its return was announced and is not stored')
  if (job && !job.minions.includes(id)) seen(4, 'it ran on a minion that was not expected')
  if (stored) {
    const text = String(stored.return)
    if (stored.success === true) {
      if (ends.length === 0) seen(4, 'it is said to have returned, and its function did not end')
      if (job && text !== returnOf(jid, id, job.bytes))
        seen(5, `what is stored is not what it returned: ${shown(text)}`)
    } else {
      if (/was not run/.test(text) && begins.length > 0) seen(4, `it began, and says "${shown(text)}"`)
      const last = ends.at(-1)
      if (announcedAt !== undefined && last && last.at > announcedAt)
        seen(4, `it ended ${last.at - announcedAt} ms after it was returned as failed: ${shown(text)}`)
    }
  }
  const report = job?.reports.get(id)
  if (report) for (const text of falsehoods(report.result, report.at, pair)) seen(4, text)
  else if (job?.isEnded) seen(1, 'the client ended and was told nothing of it')
  return found
}

/** What is wrong with what the client was told at a time. */
function falsehoods(result: MinionResult, at: number, { begins, ends, stored, announcedAt }: Pair): string[] {
  if (hasReturned(result)) {
    if (!stored) return ['the client has its return, the job cache has not']
    return result.return === stored.return ? [] : ['the client was given another return than is stored']
  }
  const told = `the client was told at ${at}: ${result.jobState}, ${result.why}`
  if (result.jobState === 'key_not_accepted') return [told]
  if (announcedAt !== undefined && announcedAt < at - LATE_MS)
    return [`${told}; it had returned at ${announcedAt}`]
  const [begin] = begins
  const end = ends.at(-1)
  if (/is not running the job/.test(result.why) && begin && end && begin.at < at - LATE_MS && end.at > at)
    return [`${told}; it ran from ${begin.at} to ${end.at}`]
  return []
}

async function allAnswer({ recorder, ids }: Fleet): Promise<boolean> {
  const request = { tgt: '*', fun: 'test.ping', timeout: 2, gatherJobTimeout: 2 }
  const returns = await returnsOf(recorder.client, request).catch(() => ({}))
  return Object.keys(returns).length === ids.length
}

/** The states of the minions of a job that have not returned, as `salt-run jobs.lookup_jid` names them. */
async function statesOf({ cluster }: Fleet, jid: string): Promise<Map<string, string>> {
  const { stdout } = await cluster.command(
    'salt-run',
    'jobs.lookup_jid',
    jid,
    'missing=True',
    '--out',
    'json',
  )
  const texts = Object.entries(JSON.parse(stdout || '{}') as Record<string, unknown>)
  return new Map(
    texts.flatMap(([id, text]) => {
      const [, state] = /^State: (\w+)\./m.exec(String(text)) ?? []
      return state ? [[id, state] as const] : []
    }),
  )
}

/** Whether something comes true in this time. */
async function within(ms: number, check: () => boolean | Promise<boolean>): Promise<boolean> {
  for (const end = hostTime() + ms; ; await delay(100)) {
    if (await check()) return true
    if (hostTime() > end) return false
  }
}

const lines = (text: string, pattern: RegExp): string[] =>
  text.split('\n').filter((line) => pattern.test(line))

const shown = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}… (${text.length})` : text)
