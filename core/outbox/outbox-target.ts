import { isRecord } from '../base/record.ts'
import { fromRecordJson, recordJson } from '../dialect/record-json.ts'

/** A destination of items: a returner and its options that differ from the configuration. */
export interface OutboxTarget {
  readonly name: string
  /** Name of an alternative configuration (`--return_config`). */
  readonly config?: string
  /** Options of the job (`--return_kwargs`). */
  readonly kwargs?: Readonly<Record<string, unknown>>
}

/** Return the distinct targets that a publication or configuration names: `a,b`, a list, or nothing. */
export function targetsOf(
  names: unknown,
  { config, kwargs }: { readonly config?: unknown; readonly kwargs?: unknown } = {},
): OutboxTarget[] {
  const listed = typeof names === 'string' ? names.split(',') : Array.isArray(names) ? names : []
  const unique = new Set(listed.filter((name) => typeof name === 'string').map((name) => name.trim()))
  unique.delete('')
  return [...unique].map((name) => ({
    name,
    ...(typeof config === 'string' && config !== '' && { config }),
    ...(isRecord(kwargs) && Object.keys(kwargs).length > 0 && { kwargs }),
  }))
}

/** Serialize a target: its name, or JSON if it has options. Equal targets give equal texts; see {@link targetFrom}. */
export function targetText({ name, config, kwargs }: OutboxTarget): string {
  if (config === undefined && kwargs === undefined && !isJson(name)) return name
  return recordJson({ name, ...(config !== undefined && { config }), ...(kwargs && { kwargs }) })
}

export const targetFrom = (text: string): OutboxTarget =>
  isJson(text) ? (fromRecordJson(text) as OutboxTarget) : { name: text }

const isJson = (text: string): boolean => text.startsWith('{')
