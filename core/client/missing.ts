import { isTrimmed } from '../events/index.ts'
import type { MinionResult } from './contract.ts'
import type { MasterRecords } from './master-records.ts'

/** Of a minion that did not return and is perhaps not meant. */
export const UNKNOWN =
  'It is not known whether the target means this minion: the master has none of its grains or pillar, and it did not return'

/**
 * The result, whole: what its event had to leave out (`max_event_size`) is in the job cache. It stays as it is, and says
 * so, for users who may not read that, and where there is none, as on the host of a master of Python Salt.
 */
export async function wholeResult(records: MasterRecords, result: MinionResult): Promise<MinionResult> {
  if (result.state !== 'returned' || !isTrimmed(result)) return result
  for await (const stored of records.returns(result.jid, [result.id])) return stored
  return { ...result, trimmed: true }
}
