import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { type Repetition, repeat } from '../../base/repeat.ts'
import { type CatalogueReport, catalogueHash, MAX_CATALOGUE_BYTES } from '../../wire/catalogue.ts'
import { CatalogueSender, type ReportedTo } from './catalogue-sender.ts'

export interface ReporterSettings {
  readonly id: string
  /**
   * Describe the functions of this minion, as the JSON of what `Loader.describe` returns. Resolves with undefined if that fails. If
   * not `awaited`, it runs at low priority. With `imports`, users' files may be imported; otherwise only their text is read.
   */
  describe(awaited: boolean, imports: boolean): Promise<string | undefined>
  /** Milliseconds without a job before users' files are imported. */
  readonly idleMs?: number
  /** False if users' files must never be imported for a report. */
  readonly imports?: boolean
  /** Return the milliseconds since the last job. */
  idleFor?(): number
  /** Resolves with a value that differs after a file of users was added, removed or changed; it is empty if there is none. */
  stamp(): Promise<string>
  /** Called when the stamp has changed without a call of `refresh`. */
  onChange(): Promise<void>
  readonly log: Log
  /** Milliseconds to wait after a start or a change, when other work has priority. */
  readonly settleMs?: number
  /** Milliseconds between checks of the stamp. */
  readonly checkMs?: number
}

/** A description, or why there is none. */
type Found =
  | { readonly text: string; readonly failure?: undefined }
  | { readonly text?: undefined; readonly failure: string }

/** How often changed files are looked for, and failed reports are repeated. */
const CHECK_INTERVAL_MS = 5_000
/** Time that a refresh of modules waits for the masters to have the report. */
const REFRESH_WAIT_MS = 5_000

/** Describes the functions of this minion, again after each change, and reports them to its masters. */
export class CatalogueReporter {
  readonly #settings: ReporterSettings
  readonly #sender: CatalogueSender
  readonly #closing = new AbortController()
  readonly #checks: Repetition
  #stamp: string | undefined
  /** Stamp of the files at the last description that imported them. */
  #imported: string | undefined
  /** Whether the last description read only the text of users' files. */
  #byText = false
  #work: Promise<void> | undefined
  #again = false
  /** Awaited descriptions: one in progress, and one queued after it. */
  #current: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Descriptions are numbered when they begin. One that began earlier is not reported after one that began later. */
  #begun = 0
  #reported = 0
  /** Resolves when the last report has been sent to all masters. */
  #sending: Promise<void> | undefined

  constructor(settings: ReporterSettings) {
    this.#settings = settings
    this.#sender = new CatalogueSender(settings.id, settings.log)
    this.#checks = repeat(
      () => this.#check(),
      settings.checkMs ?? CHECK_INTERVAL_MS,
      (error) => settings.log.error(`Changed modules could not be taken into use: ${messageOf(error)}`),
    )
  }

  /** Report to a master that the minion has connected to, for the first time or again. */
  connected(connection: ReportedTo): void {
    this.#sender.connected(connection)
    if (this.#sender.hasReport && !this.#again) this.#sender.sendMissing()
    else this.refresh()
  }

  /** Forget the last report to a master that has disconnected. */
  disconnected(connection: ReportedTo): void {
    this.#sender.disconnected(connection)
  }

  /** Describe and report again soon, since modules or grains may have changed. */
  refresh(): void {
    this.#again = true
    this.#work ??= this.#describe().finally(() => {
      this.#work = undefined
    })
  }

  /** Describe and report at once. Resolves when all connected masters have the report, or after `ms` milliseconds. */
  async refreshNow(ms = REFRESH_WAIT_MS): Promise<void> {
    if (!this.#sender.isWanted) return this.refresh()
    this.#again = false
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, this.#closing.signal])
    const late = delay(ms, undefined, { signal, ref: false }).catch(() => {})
    const known = this.#describeNow().then(() => this.#sending)
    await Promise.race([known, late]).finally(() => over.abort())
  }

  close(): void {
    void this.#checks.close()
    this.#closing.abort()
  }

  /** Retry failed reports, and detect changed files. */
  async #check(): Promise<void> {
    this.#sender.sendMissing()
    if (this.#byText && this.#mayImport()) {
      this.#byText = false
      await this.#renew(false)
    }
    if (this.#stamp === undefined) return
    const stamp = await this.#settings.stamp().catch(() => '')
    if (stamp === this.#stamp) return
    this.#stamp = stamp
    await this.#settings.onChange()
    this.refresh()
  }

  async #describe(): Promise<void> {
    const { signal } = this.#closing
    while (this.#again && !signal.aborted) {
      await delay(this.#settings.settleMs ?? 1_000, undefined, { signal, ref: false }).catch(() => {})
      if (!this.#again || signal.aborted || !this.#sender.hasMasters) return
      this.#again = false
      await this.#renew(false)
    }
  }

  /** Queue a description after the one in progress, which may not contain the latest change. */
  #describeNow(): Promise<void> {
    this.#next ??= Promise.resolve(this.#current).then(() => {
      this.#next = undefined
      this.#current = this.#renew(true)
      return this.#current
    })
    return this.#next
  }

  async #renew(awaited: boolean): Promise<void> {
    const begun = ++this.#begun
    const found = await this.#found(awaited)
    if (this.#closing.signal.aborted || begun < this.#reported) return
    this.#reported = begun
    this.#sending = this.#sender.send(this.#reportOf(found))
  }

  /** Whether files may be imported that no job has called: the minion must be idle and a master must accept reports. */
  #mayImport(): boolean {
    const { imports = true, idleMs = 0, idleFor = () => 0 } = this.#settings
    return imports && this.#sender.isWanted && idleFor() >= idleMs
  }

  async #found(awaited: boolean): Promise<Found> {
    const { stamp, describe, imports: allowed = true } = this.#settings
    try {
      const files = await stamp()
      this.#stamp = files
      const imports = (allowed && files === this.#imported) || this.#mayImport()
      const found = await describe(awaited, imports && files !== '')
      this.#byText = !imports
      if (imports) this.#imported = files
      return found === undefined
        ? { failure: 'a file of the modules ended or blocked its process' }
        : { text: found }
    } catch (error) {
      return { failure: messageOf(error) }
    }
  }

  /** Make the report. If there is no description, the hash is undefined, which withdraws the previous report. */
  #reportOf({ text, failure }: Found): CatalogueReport {
    const { log } = this.#settings
    const unchecked = 'masters do not check calls before they send them to this minion.'
    if (text === undefined) {
      log.warn(`The functions of this minion could not be listed (${failure}): ${unchecked}`)
      return { hash: undefined }
    }
    if (Buffer.byteLength(text) <= MAX_CATALOGUE_BYTES) return { hash: catalogueHash(text), text }
    const limit = `${MAX_CATALOGUE_BYTES / 1024 ** 2} MB`
    log.warn(
      `The list of functions of this minion is longer than the ${limit} that a master keeps: ${unchecked}`,
    )
    return { hash: undefined }
  }
}
