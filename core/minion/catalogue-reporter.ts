import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../author/context.ts'
import { messageOf } from '../base/errors.ts'
import type { Description } from '../loader/index.ts'
import {
  CATALOGUE_BYTES,
  type CatalogueReport,
  hashOf,
  isKnown,
  makeCatalogueReport,
  makeReportsQuestion,
  readReportsAnswer,
} from '../wire/catalogue.ts'
import type { MasterLink } from './master-link.ts'

type Link = Pick<MasterLink, 'address' | 'request'>

export interface ReporterSettings {
  readonly id: string
  /**
   * Undefined if it cannot be found out. Where nobody waits for it, it is done behind everything else. `imports`: users'
   * files may be imported for that, else their text is read.
   */
  describe(awaited: boolean, imports: boolean): Promise<Description | undefined>
  /** Time without a job before users' files are imported. Milliseconds. */
  readonly idleMs?: number
  /** False: users' files are never imported for a report. */
  readonly imports?: boolean
  /** Time without a job until now. Milliseconds. */
  idleFor?(): number
  /** Changes when a file of the modules comes, goes or changes. */
  stamp(): Promise<string>
  /** It has changed, and nobody has said so. */
  onChange(): Promise<void>
  readonly log: Log
  /** After a start or a change, milliseconds: there is something better to do then. */
  readonly settleMs?: number
  /** How often the folders are looked at, milliseconds. */
  readonly lookMs?: number
}

/** What a master was told last, and when it has it. */
interface Told {
  readonly hash: string | undefined
  /** Whether it takes reports has to be asked before. */
  readonly first: boolean
  readonly done: Promise<void>
}

/** Who refreshes modules waits so long for the masters to know. */
const PATIENCE_MS = 5_000

/**
 * Keeps the masters informed of the functions this minion offers: by the hash of its catalogue, and by the catalogue
 * where a master has not seen that hash of any minion. A master that takes no reports (one of Python Salt) is left alone
 * until it is connected to anew.
 */
export class CatalogueReporter {
  readonly #settings: ReporterSettings
  /** What each master that is there was told last; 'deaf' if it takes no reports. */
  readonly #told = new Map<Link, Told | 'deaf' | undefined>()
  readonly #closing = new AbortController()
  readonly #watch: NodeJS.Timeout
  #report: CatalogueReport | undefined
  #stamp: string | undefined
  /** The stamp of the files at the last description that imported them. */
  #imported: string | undefined
  /** Whether the last description only read text. */
  #byText = false
  #work: Promise<void> | undefined
  #again = false
  /** Descriptions that somebody waits for: one under way, and one after it. */
  #now: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Descriptions are numbered as they begin; none is reported after one that began later. */
  #begun = 0
  #reported = 0
  /** The masters are being told of the last. */
  #telling: Promise<unknown> | undefined

  constructor(settings: ReporterSettings) {
    this.#settings = settings
    this.#watch = setInterval(() => void this.#look(), settings.lookMs ?? 5_000)
    this.#watch.unref()
  }

  /** A master is there, for the first time or again. */
  connected(link: Link): void {
    this.#told.set(link, undefined)
    if (this.#report && !this.#again) void this.#tell(link, this.#report)
    else this.refresh()
  }

  /** It is told when it is there again. */
  disconnected(link: Link): void {
    this.#told.delete(link)
  }

  /** Modules or grains may have changed. */
  refresh(): void {
    this.#again = true
    this.#work ??= this.#describe().finally(() => {
      this.#work = undefined
    })
  }

  /** The same at once, for somebody who waits: resolves when the masters that are there know, or after `ms`. */
  async refreshNow(ms = PATIENCE_MS): Promise<void> {
    if ([...this.#told.values()].every((told) => told === 'deaf')) return this.refresh()
    this.#again = false
    const over = new AbortController()
    const signal = AbortSignal.any([over.signal, this.#closing.signal])
    const late = delay(ms, undefined, { signal, ref: false }).catch(() => {})
    const known = this.#describeNow().then(() => this.#telling)
    await Promise.race([known, late]).finally(() => over.abort())
  }

  close(): void {
    clearInterval(this.#watch)
    this.#closing.abort()
  }

  /** Reports that failed are made again, and what was changed without a word is found. */
  async #look(): Promise<void> {
    if (this.#report)
      for (const [link, told] of this.#told) if (told === undefined) void this.#tell(link, this.#report)
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
      if (!this.#again || signal.aborted || this.#told.size === 0) return
      this.#again = false
      await this.#renew(false)
    }
  }

  /** What is under way may be from before the change: one more comes after it. */
  #describeNow(): Promise<void> {
    this.#next ??= Promise.resolve(this.#now).then(() => {
      this.#next = undefined
      this.#now = this.#renew(true)
      return this.#now
    })
    return this.#next
  }

  async #renew(awaited: boolean): Promise<void> {
    const begun = ++this.#begun
    const catalogue = await this.#found(awaited)
    if (this.#closing.signal.aborted || begun < this.#reported) return
    this.#reported = begun
    const report = this.#reportOf(catalogue)
    this.#report = report
    this.#telling = Promise.all(Array.from(this.#told.keys(), (link) => this.#tell(link, report)))
  }

  /** Whether files that nobody called may be imported: the minion is idle, and a master takes reports. */
  #mayImport(): boolean {
    const { imports = true, idleMs = 0, idleFor = () => 0 } = this.#settings
    const isWanted = [...this.#told.values()].some((told) => told !== 'deaf')
    return imports && isWanted && idleFor() >= idleMs
  }

  async #found(awaited: boolean): Promise<Description | string> {
    const { stamp, describe, imports: allowed = true } = this.#settings
    try {
      const files = await stamp()
      this.#stamp = files
      const imports = (allowed && files === this.#imported) || this.#mayImport()
      const found = await describe(awaited, imports)
      this.#byText = !imports
      if (imports) this.#imported = files
      return found ?? 'a file of the modules ended or blocked its process'
    } catch (error) {
      return messageOf(error)
    }
  }

  /** Unknown, so that what was told before does not stand, if there is only a reason why. */
  #reportOf(catalogue: Description | string): CatalogueReport {
    const { log } = this.#settings
    const unchecked = 'calls are not checked before they are sent here.'
    if (typeof catalogue === 'string') {
      log.warn(`What this minion offers could not be found out (${catalogue}): ${unchecked}`)
      return { hash: undefined }
    }
    const text = JSON.stringify(catalogue)
    if (Buffer.byteLength(text) <= CATALOGUE_BYTES) return { hash: hashOf(text), text }
    const limit = `${CATALOGUE_BYTES / 1024} kB`
    log.warn(`What this minion offers takes more than the ${limit} that a master would keep: ${unchecked}`)
    return { hash: undefined }
  }

  /** One after the other, so that the last stands. Never rejects. */
  #tell(link: Link, report: CatalogueReport): Promise<void> {
    const told = this.#told.get(link)
    if (told === 'deaf') return Promise.resolve()
    if (told && told.hash === report.hash) return told.done
    const done = Promise.resolve(told?.done).then(() => this.#send(link, report, now))
    const now: Told = { hash: report.hash, first: !told, done }
    this.#told.set(link, now)
    return done
  }

  async #send(link: Link, { hash, text }: CatalogueReport, told: Told): Promise<void> {
    const { id, log } = this.#settings
    const settle = (end: 'deaf' | undefined) => {
      if (this.#told.get(link) === told) this.#told.set(link, end)
    }
    const report = (report: CatalogueReport) => link.request(makeCatalogueReport(id, report))
    try {
      if (told.first && !readReportsAnswer(await link.request(makeReportsQuestion(id)))) return settle('deaf')
      if (!isKnown(await report({ hash })) && text !== undefined) await report({ hash, text })
    } catch (error) {
      settle(undefined)
      log.debug(`${link.address} was not told what this minion offers: ${messageOf(error)}`)
    }
  }
}
