import { randomUUID } from 'node:crypto'
import { Float } from './float.ts'
import { losesPrecision, TOKENS } from './json-numbers.ts'

/**
 * Parse JSON as `JSON.parse` does, but keep the kind of numbers: 3.0 becomes a `Float`, an integer beyond 2^53 a bigint.
 * @throws SyntaxError
 */
export function readJson(text: string): unknown {
  const mark = `${randomUUID()}:` // random, so no text of the input begins with it
  let isMarked = false
  const marked = text.replace(TOKENS, (token) => {
    if (!losesPrecision(token)) return token
    isMarked = true
    return `"${mark}${token}"`
  })
  const value: unknown = JSON.parse(marked)
  return isMarked ? unmarked(value, mark) : value
}

function unmarked(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? numberOf(value.slice(mark.length)) : value
  if (Array.isArray(value)) return value.map((member) => unmarked(member, mark))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  if (members.some(([key]) => key.startsWith(mark))) throw new SyntaxError('a key of a JSON map must be text')
  return Object.fromEntries(members.map(([key, member]) => [key, unmarked(member, mark)]))
}

const numberOf = (token: string): unknown => (/^-?\d+$/.test(token) ? BigInt(token) : new Float(token))
