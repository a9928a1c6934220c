import type { EncryptedHandler } from '../../channel/request-server.ts'
import { readCatalogue } from '../../loader/describe/read-catalogue.ts'
import { readCallCheckReport, readCatalogueReport } from '../../wire/catalogue.ts'
import type { WorkerContext } from '../worker/context.ts'

/**
 * `_catalogue`: a minion of salt-ts reports the hash of its catalogue of functions. The answer says whether the master has
 * that catalogue. A catalogue that cannot be read counts as known, since the minion would only send the same again.
 */
export function catalogueHandler(context: WorkerContext): EncryptedHandler {
  return async (load, { id, verified }) => {
    if (!id || !verified) return {}
    const report = readCatalogueReport(load)
    if (!report || (report.text !== undefined && !readCatalogue(report.text))) {
      context.log.warn(
        `${id} sent a catalogue of functions that cannot be read; calls are sent to it without a check.`,
      )
      return { known: true }
    }
    return { known: await context.catalogues.save(id, report) }
  }
}

/** `_verdict`: a minion reports which calls of a check it would refuse. */
export function callCheckHandler(context: WorkerContext): EncryptedHandler {
  return async (load, { id, verified }) => {
    const report = id && verified ? readCallCheckReport(load) : undefined
    if (id && report) context.callChecks.report(id, report)
    return {}
  }
}
