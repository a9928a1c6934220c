/**
 * Functions the minion answers itself, without a job process: they must answer at once even when the host is busy,
 * and they are about the jobs that the minion's own process knows (design decision 8).
 */
const CONTROL: ReadonlySet<string> = new Set([
  'test.ping',
  'saltutil.find_job',
  'saltutil.running',
  'saltutil.is_running',
  'saltutil.signal_job',
  'saltutil.term_job',
  'saltutil.kill_job',
  'saltutil.term_all_jobs',
  'saltutil.kill_all_jobs',
])

export const answeredInProcess = (fun: string | readonly string[]): boolean =>
  typeof fun === 'string' && CONTROL.has(fun)
