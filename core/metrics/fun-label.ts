/** What a job runs, as a label. Names are given by whoever publishes, so that not all are worth a series. */
export function funLabel(fun: unknown): string {
  if (Array.isArray(fun)) return fun.length === 1 ? funLabel(fun[0]) : 'several'
  return typeof fun === 'string' && /^\w+(\.\w+)+$/.test(fun) ? fun : 'other'
}
