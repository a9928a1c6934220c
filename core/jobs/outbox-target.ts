import { isRecord } from '../wire/bytes.ts'

/** Where something is to go: a returner, and what of its options is not as configured. */
export interface Target {
  readonly name: string
  /** `--return_config`. */
  readonly config?: string
  /** `--return_kwargs`. */
  readonly kwargs?: Readonly<Record<string, unknown>>
}

/** The targets that a publication or configuration names: `a,b`, a list, or nothing. Each once. */
export function targetsOf(
  names: unknown,
  { config, kwargs }: { readonly config?: unknown; readonly kwargs?: unknown } = {},
): Target[] {
  const listed = typeof names === 'string' ? names.split(',') : Array.isArray(names) ? names : []
  const unique = new Set(listed.filter((name) => typeof name === 'string').map((name) => name.trim()))
  unique.delete('')
  return [...unique].map((name) => ({
    name,
    ...(typeof config === 'string' && config !== '' && { config }),
    ...(isRecord(kwargs) && Object.keys(kwargs).length > 0 && { kwargs }),
  }))
}

/** Text that is the same for the same target, and from which it can be read again. */
export function targetText({ name, config, kwargs }: Target): string {
  return config === undefined && kwargs === undefined ? name : JSON.stringify({ name, config, kwargs })
}

export const targetFrom = (text: string): Target => (text.startsWith('{') ? JSON.parse(text) : { name: text })
