export type Fields = Readonly<Record<string, unknown>>

/** A map of a return, and not a list, bytes or another object. */
export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
