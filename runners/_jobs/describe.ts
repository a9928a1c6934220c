/** Descriptions of stored jobs with Salt's labels: Function, Arguments, Target, … */

import type { StoredJob, StoredReturn } from 'salt-ts'
import { timeText } from '#internal'

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
    ...options(load),
    ...(load.metadata === undefined ? {} : { Metadata: load.metadata }),
  }
}

/** Labels of a job's other options; only those that are set are shown. */
const OPTIONS = {
  ret: 'Returner',
  ret_config: 'Return-config',
  ret_kwargs: 'Return-kwargs',
  module_executors: 'Module-executors',
  executor_opts: 'Executor-opts',
} as const

function options(load: StoredJob['load']): Record<string, unknown> {
  const given = Object.entries(OPTIONS).filter(([name]) => load[name] !== undefined && load[name] !== '')
  return Object.fromEntries(given.map(([name, label]) => [label, load[name]]))
}

export function describeResult({ return: value, retcode, success }: StoredReturn): Record<string, unknown> {
  return {
    return: value,
    ...(retcode !== undefined && { retcode }),
    ...(success !== undefined && { success }),
  }
}
