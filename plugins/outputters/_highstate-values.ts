/** Helpers of the highstate outputter: its options, and access to the results of states. */
import type { OutputOptions } from 'salt-ts'
import { type Codes, codesOf, type Screen, screen } from './_colors.ts'
import { entriesOf, kindOf } from './_values.ts'

/** Thrown if the outputter cannot show the value. */
export class NoStates extends Error {}

export interface Look {
  readonly options: OutputOptions
  readonly colors: Codes
  readonly safe: Screen
  /** `full`, `terse`, `mixed`, `changes` or `filter`, each with or without `_id`. */
  readonly output: string
  readonly verbose: boolean
  readonly profile: boolean
  readonly diff: boolean
  readonly percent: boolean
  readonly compress: boolean
  /** Format of terse states: a sentence, a table, or the user's own format. */
  readonly tabular: boolean | string
}

/** Read the options, with Salt's defaults. */
export function lookOf(options: OutputOptions): Look {
  const { state_output: output, state_tabular: tabular } = options
  return {
    options,
    colors: codesOf(options),
    safe: screen(options),
    output: typeof output === 'string' ? output.toLowerCase() : 'full',
    verbose: options.state_verbose !== false,
    profile: options.state_output_profile !== false,
    diff: options.state_output_diff === true,
    percent: options.state_output_pct === true,
    compress: options.state_compress_ids === true,
    tabular: typeof tabular === 'string' ? tabular : tabular === true,
  }
}

export const isMapping = (value: unknown): boolean => kindOf(value) === 'map'

export const membersOf = (map: unknown): Map<unknown, unknown> => new Map(entriesOf(map))

/** Return a required member. */
export function needed(members: ReadonlyMap<unknown, unknown>, name: string): unknown {
  if (!members.has(name)) throw new NoStates()
  return members.get(name)
}

/** Whether the value is true in Python. */
export function isTrue(value: unknown): boolean {
  const kind = kindOf(value)
  if (kind === 'list') return (value as unknown[]).length > 0
  if (kind === 'map') return entriesOf(value).length > 0
  return kind === 'float' || kind === 'int' ? Number(value) !== 0 : Boolean(value)
}

/** Return milliseconds, given as a number or as `5 ms`; undefined for any other text. */
export function millisecondsOf(duration: unknown): number | undefined {
  if (duration === undefined) return 0
  const kind = kindOf(duration)
  if (kind === 'int' || kind === 'float' || kind === 'bool') return Number(duration)
  if (kind !== 'text') throw new NoStates()
  const text = (duration as string).split(' ms')[0] as string
  return /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : undefined
}
