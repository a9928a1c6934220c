/** Records one run of a runner or wheel function for others: its file while it runs, its job, its events (wire protocol §12). */
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { tags } from '../../events/index.ts'
import type { JobCache } from '../../jobs/job-cache.ts'
import type { FunctionRun } from '../../runs/background.ts'
import { type RunFile, writeRunFile } from '../../runs/running-runs.ts'
import { type RunReturn, type RunStart, storeRun, storeStart } from '../../runs/stored-run.ts'

const eventTags = {
  runner: { started: tags.runNew, ended: tags.runReturn, progress: tags.runProgress },
  wheel: { started: tags.wheelNew, ended: tags.wheelReturn, progress: tags.wheelProgress },
} as const

export interface RecordSettings {
  readonly kind: FunctionRun['kind']
  readonly jid: string
  readonly fun: string
  readonly user: string
  readonly owner: string | undefined
  readonly config: MasterConfig
  readonly log: Log
  /** Store it as a job in the job cache. */
  readonly store: boolean
  /** This process runs nothing else, and can be killed to end the run. */
  readonly ownProcess: 'foreground' | 'background' | undefined
  /** The job cache that a master in this process has open. */
  readonly jobs: JobCache | undefined
  /** Fire an event; false if no master runs. */
  fire(tag: string, data: object): Promise<boolean>
}

export class RunRecord {
  readonly #settings: RecordSettings
  readonly #file: RunFile | undefined

  static async open(settings: RecordSettings): Promise<RunRecord> {
    return new RunRecord(settings, settings.ownProcess && (await fileOf(settings)))
  }

  private constructor(settings: RecordSettings, file: RunFile | undefined) {
    this.#settings = settings
    this.#file = file
  }

  async started(start: RunStart): Promise<void> {
    const { kind, fire } = this.#settings
    await this.#file?.add({ fun_args: start.fun_args })
    await this.#storeStart(start)
    await fire(eventTags[kind].started(start.jid), start)
  }

  /** Store and announce that there is no such function: only its end has an event, which is `event`. */
  async refused(start: RunStart, why: string, event: object): Promise<void> {
    const { owner, ...run } = start
    await this.#storeStart(start)
    await this.ended({ ...run, return: why, success: false }, event)
  }

  async progress(data: object): Promise<void> {
    const { kind, jid } = this.#settings
    await this.#settings.fire(eventTags[kind].progress(jid), data)
  }

  /**
   * Store the end and announce it, with `event` if that is given. If this fails, the end stays in the file, and the master stores and
   * announces it later.
   */
  async ended(run: RunReturn, event: object = run): Promise<void> {
    const { kind, config, jobs, store } = this.#settings
    const kept = !store || (await this.#stored('The return', storeRun(config, run, jobs)))
    const wasFired = await this.#settings.fire(eventTags[kind].ended(run.jid), event)
    if (!store || (kept && wasFired)) await this.forget()
    else await this.#file?.add({ ended: run })
  }

  async forget(): Promise<void> {
    await this.#file?.forget()
  }

  async #storeStart(start: RunStart): Promise<void> {
    const { config, jobs, store } = this.#settings
    if (store) await this.#stored('The start', storeStart(config, start, jobs))
  }

  async #stored(what: string, work: Promise<void>): Promise<boolean> {
    const { fun, log } = this.#settings
    return work.then(
      () => true,
      (error: unknown) => {
        log.error(`${what} of ${fun} could not be stored: ${messageOf(error)}`)
        return false
      },
    )
  }
}

async function fileOf({ kind, jid, fun, user, owner, config, log, store, ownProcess }: RecordSettings) {
  const who = { user, ...(owner !== undefined && { owner }) }
  const run = {
    jid,
    fun: `${kind}.${fun}`,
    ...who,
    fun_args: [],
    store,
    detached: ownProcess === 'background',
  }
  try {
    return await writeRunFile(config, run)
  } catch (error) {
    log.warn(
      `The file of the run of ${fun} cannot be written, so runs.list does not show it: ${messageOf(error)}`,
    )
    return undefined
  }
}
