import { Random } from '../harness/random.ts'
import { Fleet, type FleetOptions } from './fleet.ts'
import { type Broken, judge, type Verdict } from './oracle.ts'
import type { Scenario } from './scenarios/scenario.ts'

/** One scenario with one seed. */
export interface Trial extends Verdict {
  readonly scenario: string
  readonly seed: number
  readonly seconds: number
}

const NOTHING = { pairs: 0, returned: 0, failed: 0, others: 0, lost: 0, twice: 0 }

/** Makes trials one after the other, on the same fleet as long as that is fit for the next one. */
export class Trials {
  readonly #onLogs: (trial: Pick<Trial, 'scenario' | 'seed'>, logs: string) => void
  #fleet: Fleet | undefined
  #options: FleetOptions | undefined

  /** `onLogs` is told what the daemons said if an invariant is broken. */
  constructor(onLogs: (trial: Pick<Trial, 'scenario' | 'seed'>, logs: string) => void) {
    this.#onLogs = onLogs
  }

  async make(scenario: Scenario, seed: number): Promise<Trial> {
    const started = performance.now()
    const named = { scenario: scenario.name, seed }
    const fleet = await this.#fleetFor(scenario.fleet)
    try {
      await scenario.run(fleet, new Random(seed, scenario.name))
      const verdict = await judge(fleet)
      if (verdict.broken.length > 0) await this.#discard(named)
      return { ...verdict, ...named, seconds: (performance.now() - started) / 1000 }
    } catch (error) {
      await this.#discard(named)
      const broken: Broken[] = [{ invariant: 6, seen: (error as Error).message }]
      return { ...NOTHING, broken, ...named, seconds: (performance.now() - started) / 1000 }
    }
  }

  async close(): Promise<void> {
    await this.#fleet?.close()
    this.#fleet = undefined
  }

  async #fleetFor(options: FleetOptions | undefined): Promise<Fleet> {
    if (!this.#fleet || this.#options !== options) {
      await this.close()
      this.#fleet = await Fleet.open(options)
      this.#options = options
    }
    this.#fleet.forgetLogs()
    return this.#fleet
  }

  /** Close a fleet of which nobody knows what is wrong with it. */
  async #discard(trial: Pick<Trial, 'scenario' | 'seed'>): Promise<void> {
    const daemons = this.#fleet?.daemons ?? []
    const logs = daemons.map((daemon) => `=== ${daemon.directory}\n${this.#fleet?.log(daemon)}`)
    this.#onLogs(trial, logs.join('\n'))
    await this.close()
  }
}

/** A broken invariant as a line: which, of which job and minion, and what was seen. */
export const brokenLines = ({ scenario, seed, broken }: Trial): string[] =>
  broken.map(
    ({ invariant, jid = '-', id = '-', seen }) =>
      `${scenario} seed ${seed}: invariant ${invariant}, jid ${jid}, id ${id}: ${seen}`,
  )
