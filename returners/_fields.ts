export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is a plain map, and not a list, bytes or another object. */
export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
