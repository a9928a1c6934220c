import type { StoreChange } from '../store/index.ts'
import { IMPORTED, putJob, readJob, startJob, unionOfIds } from './job-record.ts'
import type { JobRow } from './job-transfer.ts'

/** Import rows of another job cache. Existing records are kept. Returns the numbers of new records, which get the age `now`. */
export function importRows(
  records: StoreChange,
  rows: readonly JobRow[],
  now: number,
): { jobs: number; returns: number } {
  const taken = { jobs: 0, returns: 0 }
  for (const row of rows) {
    if (!records.has(['job', row.jid])) startJob(records, row.jid, now, IMPORTED)
    if (row.kind === 'return') {
      if (records.has(['ret', row.jid, row.id])) continue
      records.put(['ret', row.jid, row.id], row.ret)
      taken.returns++
    } else {
      const { jid, load, unknown } = row
      const known = readJob(records, jid)
      if (known?.load) continue
      const minions = unionOfIds(known?.minions ?? [], row.minions)
      putJob(records, jid, { load, minions, ...(unknown && { unknown }) })
      taken.jobs++
    }
  }
  return taken
}
