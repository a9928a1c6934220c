import type { Log } from '../../author/context.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { connections, UNLISTED_MS } from '../../cache/connected.ts'
import type { MinionStarts } from '../../cache/minion-starts.ts'
import type { MinionsBelow } from '../../cache/minions-below.ts'
import type { MasterConfig } from '../../config/index.ts'
import { fnmatch } from '../../dialect/fnmatch.ts'
import { tags } from '../../events/index.ts'
import type { SyndicsOfJob } from '../../wire/publish-request.ts'
import type { SyndicReport } from '../../wire/syndic.ts'
import type { ResolvedTarget } from '../preflight/resolve-target.ts'
import type { WorkerContext } from './context.ts'

export interface SyndicsSettings {
  readonly config: MasterConfig
  readonly starts: MinionStarts
  readonly below: MinionsBelow
  readonly log: Pick<Log, 'warn'>
}

/** Log the same warning at most this often. */
const LOG_INTERVAL_MS = 3_600_000

/** The syndics of this master, if it is a master of masters (`order_masters`). */
export class Syndics {
  readonly #config: MasterConfig
  readonly #starts: MinionStarts
  readonly below: MinionsBelow
  readonly #warn: (sentence: string, about: string) => void

  constructor({ config, starts, below, log }: SyndicsSettings) {
    this.#warn = onceInAWhile((text) => log.warn(text), LOG_INTERVAL_MS)
    this.#config = config
    this.#starts = starts
    this.below = below
  }

  /** Whether a minion with this id may speak for others. */
  mayBe(id: string): boolean {
    const { order_masters, syndics } = this.#config
    return order_masters && syndics.some((pattern) => fnmatch(id, pattern))
  }

  /** Whether an id is that of a syndic. */
  is(id: string): boolean {
    return this.mayBe(id) && this.#starts.isSyndic(id)
  }

  /** Whether a syndic is one of salt-ts, which reports the minions that it speaks for before it sends their returns. */
  reports(id: string): boolean {
    return this.#starts.of(id).at(-1)?.syndic === true
  }

  /** Note that a minion has reported itself as a syndic. A syndic of Python Salt does so by an event. */
  async note(id: string): Promise<void> {
    if (this.mayBe(id)) await this.#starts.noteSyndic(id, Date.now())
  }

  /** Warn that two syndics speak for the same minions. If the minions are not below both, one of the syndics is not genuine. */
  warnOfSecondPath(syndic: string, minions: readonly string[]): void {
    const sentence = `The syndic ${syndic} speaks for minions for which another one has spoken before, such as ${minions[0]}. That is right if they can be reached by both. If not, name your syndics in the option syndics, and look for whoever has the key of ${syndic}.`
    this.#warn(sentence, syndic)
  }

  /** Return the syndics of a job that is published now. */
  async reached(): Promise<SyndicsOfJob> {
    const known = this.#config.order_masters ? this.#starts.syndics().filter((id) => this.mayBe(id)) : []
    if (known.length === 0) return { reporting: [], silent: [], away: [] }
    const { present = [], reconnecting = [] } = (await connections(this.#config)) ?? {}
    const recent = known.filter((id) => Date.now() - (this.#starts.of(id).at(-1)?.at ?? 0) < UNLISTED_MS)
    const there = new Set([...present, ...reconnecting, ...recent])
    const reporting = known.filter((id) => this.reports(id))
    return {
      reporting: reporting.filter((id) => there.has(id)),
      silent: known.filter((id) => !reporting.includes(id)),
      away: reporting.filter((id) => !there.has(id)),
    }
  }

  /**
   * Correct the minions that a target selects on this master: a syndic itself runs nothing, and the ids of a list may belong to
   * minions below a syndic.
   */
  correct<T extends ResolvedTarget>(resolved: T): T {
    if (!this.#config.order_masters) return resolved
    const below = resolved.missing.filter((id) => this.below.syndicOf(id) !== undefined)
    const isOwn = (id: string) => !this.is(id) || this.below.syndicOf(id) === id
    return {
      ...resolved,
      minions: [...resolved.minions.filter(isOwn), ...below],
      unknown: resolved.unknown.filter(isOwn),
      missing: resolved.missing.filter((id) => !below.includes(id)),
    }
  }
}

/**
 * Whether a syndic may speak for a minion: one that has no key on this master, or the syndic itself. A minion with a key here
 * returns directly.
 */
export const isMinionBelow = ({ keys }: Pick<WorkerContext, 'keys'>, syndic: string, id: string): boolean =>
  id === syndic || keys.accepted(id) === undefined

/** Store and announce the minions that a syndic speaks for in a job. */
export async function addMinionsBelow(
  { jobs, syndics, fire }: Pick<WorkerContext, 'jobs' | 'syndics' | 'fire'>,
  syndic: string,
  {
    jid,
    minions,
    unknown = [],
    waiting = [],
    awaits = [],
  }: Partial<SyndicReport> & Pick<SyndicReport, 'jid' | 'minions'>,
): Promise<void> {
  const others = await syndics.below.save(syndic, minions)
  if (others.length > 0) syndics.warnOfSecondPath(syndic, others)
  await jobs.addMinions(jid, minions, { unknown, by: awaits.length > 0 ? undefined : syndic })
  void fire(tags.jobPublished(jid), { minions }) // for clients of Python Salt
  void fire(tags.jobSyndic(jid, syndic), { id: syndic, minions, unknown, waiting, awaits })
}
