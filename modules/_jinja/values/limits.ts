/** How large values may become: the process would have no memory left. */
import { TemplateError } from '../errors.ts'

const MAX_ELEMENTS = 1_000_000
/** JavaScript has no texts of 512 million characters. */
const MAX_CHARACTERS = 100_000_000

/** Return a number of elements. @throws TemplateError if there are too many */
export function checkLength(elements: number): number {
  if (elements > MAX_ELEMENTS)
    throw new TemplateError(`the result would have more than ${MAX_ELEMENTS} elements`)
  return elements
}

/** How often something of this length is repeated: never for negative numbers. @throws TemplateError if that gives too much */
export function timesOf(count: number, length: number): number {
  const times = Math.max(count, 0)
  checkLength(times * length)
  return times
}

/** @throws TemplateError if that gives too much */
export const repeated = (text: string, count: number): string => text.repeat(timesOf(count, text.length))

/** Join two texts. @throws TemplateError if they are too long */
export function joined(left: string, right: string): string {
  if (left.length + right.length > MAX_CHARACTERS)
    throw new TemplateError(`the text would have more than ${MAX_CHARACTERS} characters`)
  return left + right
}
