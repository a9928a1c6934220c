import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import {
  type CatalogueReport,
  makeCatalogueReport,
  makeCatalogueSupportRequest,
  masterHasCatalogue,
  supportsCatalogues,
} from '../../wire/catalogue.ts'
import type { MasterConnection } from './master-connection.ts'

export type ReportedTo = Pick<MasterConnection, 'address' | 'request'>

/** The last report sent to a master. */
interface SentReport {
  readonly hash: string | undefined
  /** True if the master must first be asked whether it supports reports. */
  readonly first: boolean
  readonly done: Promise<void>
}

/**
 * Sends the latest catalogue of this minion to its masters: first its hash, then the catalogue itself if the master has not
 * received that hash from any minion. A master that does not support reports (Python Salt) gets none until the minion
 * connects to it again.
 */
export class CatalogueSender {
  readonly #id: string
  readonly #log: Log
  /** The last report to each connected master: undefined if it failed, 'unsupported' if the master does not accept reports. */
  readonly #sent = new Map<ReportedTo, SentReport | 'unsupported' | undefined>()
  #latest: CatalogueReport | undefined

  constructor(id: string, log: Log) {
    this.#id = id
    this.#log = log
  }

  get hasReport(): boolean {
    return this.#latest !== undefined
  }

  get hasMasters(): boolean {
    return this.#sent.size > 0
  }

  /** Whether a connected master accepts reports, or has not been asked yet. */
  get isWanted(): boolean {
    return [...this.#sent.values()].some((sent) => sent !== 'unsupported')
  }

  connected(connection: ReportedTo): void {
    this.#sent.set(connection, undefined)
  }

  disconnected(connection: ReportedTo): void {
    this.#sent.delete(connection)
  }

  /** Send a new report to all connected masters. Resolves when each has it or it has failed; never rejects. */
  async send(report: CatalogueReport): Promise<void> {
    this.#latest = report
    await Promise.all(Array.from(this.#sent.keys(), (connection) => this.#sendTo(connection, report)))
  }

  /** Send the latest report to the masters that do not have it: they have connected since, or sending has failed. */
  sendMissing(): void {
    if (!this.#latest) return
    for (const [connection, sent] of this.#sent)
      if (sent === undefined) void this.#sendTo(connection, this.#latest)
  }

  /** Send reports one after another, so that the last one wins. Never rejects. */
  #sendTo(connection: ReportedTo, report: CatalogueReport): Promise<void> {
    const sent = this.#sent.get(connection)
    if (sent === 'unsupported') return Promise.resolve()
    if (sent && sent.hash === report.hash) return sent.done
    const done = Promise.resolve(sent?.done).then(() => this.#exchange(connection, report, current))
    const current: SentReport = { hash: report.hash, first: !sent, done }
    this.#sent.set(connection, current)
    return done
  }

  async #exchange(connection: ReportedTo, { hash, text }: CatalogueReport, sent: SentReport): Promise<void> {
    const id = this.#id
    const settle = (end: 'unsupported' | undefined) => {
      if (this.#sent.get(connection) === sent) this.#sent.set(connection, end)
    }
    const report = (report: CatalogueReport) => connection.request(makeCatalogueReport(id, report))
    try {
      if (sent.first && !supportsCatalogues(await connection.request(makeCatalogueSupportRequest(id))))
        return settle('unsupported')
      if (!masterHasCatalogue(await report({ hash })) && text !== undefined) await report({ hash, text })
    } catch (error) {
      settle(undefined)
      this.#log.debug(
        `The functions of this minion were not reported to ${connection.address}: ${messageOf(error)}`,
      )
    }
  }
}
