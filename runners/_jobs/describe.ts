/** Stored jobs in the words Salt's users know: Function, Arguments, Target, … */
import { type StoredJob, type StoredReturn, timeText } from 'salt-ts'

export function describeJob({
  jid,
  load,
  endtime,
}: Pick<StoredJob, 'jid' | 'load' | 'endtime'>): Record<string, unknown> {
  return {
    Arguments: load.arg ?? [],
    Function: load.fun ?? 'unknown-function',
    StartTime: timeText(jid),
    ...(endtime !== undefined && { EndTime: timeText(endtime) }),
    Target: load.tgt ?? 'unknown-target',
    'Target-type': load.tgt_type ?? 'list',
    User: load.user ?? 'root',
    ...(load.metadata === undefined ? {} : { Metadata: load.metadata }),
  }
}

export function describeResult({ return: value, retcode, success }: StoredReturn): Record<string, unknown> {
  return {
    return: value,
    ...(retcode !== undefined && { retcode }),
    ...(success !== undefined && { success }),
  }
}
