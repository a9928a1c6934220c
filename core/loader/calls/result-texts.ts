import type { JsonSchema } from '../../author/params.ts'
import { isRecord } from '../../base/record.ts'
import { findWrong, memberSchema } from './check-types.ts'
import { base64 } from './coerce.ts'

/** Return a result with its bytes and dates as the texts that callers give for them, where the schema declares them. */
export function withTexts(value: unknown, schema: JsonSchema): unknown {
  const { anyOf, contentEncoding, format } = schema
  if (Array.isArray(anyOf)) {
    const texts = anyOf.map((member) => withTexts(value, member))
    return texts.find((text, index) => !findWrong(text, anyOf[index], [])) ?? value
  }
  if (value instanceof Uint8Array) return contentEncoding === 'base64' ? base64(value) : value
  if (value instanceof Date) return dateText(value, format)
  return Array.isArray(value) || isRecord(value) ? membersWithTexts(value, schema) : value
}

/** Return the text of a date, null if it is invalid; the date itself if the format is not of dates. */
function dateText(date: Date, format: unknown): unknown {
  if (format === 'date-time') return date.toJSON()
  return format === 'date' ? (date.toJSON()?.slice(0, 10) ?? null) : date
}

function membersWithTexts(value: object, schema: JsonSchema): unknown {
  const members = Object.entries(value).map(([key, member]) => {
    const inner = memberSchema(value, key, schema)
    return [key, inner ? withTexts(member, inner) : member] as const
  })
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members)
}
