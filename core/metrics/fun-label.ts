/** Return the label for the function of a job. Publishers can send any name, so invalid ones share the label `other`. */
export function funLabel(fun: unknown): string {
  if (Array.isArray(fun)) return fun.length === 1 ? funLabel(fun[0]) : 'several'
  return typeof fun === 'string' && /^\w+(\.\w+)+$/.test(fun) ? fun : 'other'
}
