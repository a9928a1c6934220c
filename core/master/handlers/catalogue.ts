import type { EncryptedHandler } from '../../channel/request-server.ts'
import { readCatalogue } from '../../loader/read-catalogue.ts'
import { readCatalogueReport, readVerdict } from '../../wire/catalogue.ts'
import type { WorkerRoom } from '../room.ts'

/**
 * `_catalogue`: what a minion of salt-ts offers, by its hash. The answer says whether the master has the catalogue; one
 * that cannot be used counts as had, since the same again would be no better.
 */
export function catalogueHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, { id, verified }) => {
    if (!id || !verified) return {}
    const report = readCatalogueReport(load)
    if (!report || (report.text !== undefined && !readCatalogue(report.text))) {
      room.log.warn(`${id} sent a catalogue of its functions that cannot be read; its calls are not checked.`)
      return { known: true }
    }
    return { known: await room.catalogues.save(id, report) }
  }
}

/** `_verdict`: a minion's answer to a check. */
export function verdictHandler(room: WorkerRoom): EncryptedHandler {
  return async (load, { id, verified }) => {
    const verdict = id && verified ? readVerdict(load) : undefined
    if (id && verdict) room.verdicts.answered(id, verdict)
    return {}
  }
}
