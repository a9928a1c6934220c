import { TemplateError } from '../errors.ts'

/** A list or text repeated beyond this many elements is refused. */
const MAX_REPEATED = 1_000_000

/** How often something of this length is repeated: never for negative numbers. @throws TemplateError if that gives too much */
export function timesOf(count: number, length: number): number {
  const times = Math.max(count, 0)
  if (times * length > MAX_REPEATED)
    throw new TemplateError(`the result would have more than ${MAX_REPEATED} elements`)
  return times
}

export const repeated = (text: string, count: number): string => text.repeat(timesOf(count, text.length))
