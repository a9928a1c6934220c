/** Options whose value is a YAML map or list. */
import { isRecord } from '../../base/record.ts'
import { yamlify } from '../../loader/calls/words.ts'
import { UsageError } from '../exit-codes.ts'

/**
 * Parse a YAML map.
 * @throws UsageError for another shape
 */
export function yamlMap(option: string, text: string | undefined): Record<string, unknown> | undefined {
  const value = text === undefined ? undefined : yamlify(text)
  if (value === undefined || isRecord(value)) return value
  throw new UsageError(`--${option} needs a map such as '{a: 1}', not '${text}'.`)
}

/**
 * Parse a YAML list; a name alone is a list of one.
 * @throws UsageError for another shape
 */
export function yamlList(option: string, text: string | undefined): readonly unknown[] | undefined {
  const value = text === undefined ? undefined : yamlify(text)
  if (value === undefined || Array.isArray(value)) return value
  if (typeof value === 'string' && /^[\w-]+$/.test(value)) return [value]
  throw new UsageError(`--${option} needs a list such as '[a, b]', not '${text}'.`)
}
