/** What the highstate outputter takes from the results of states, and how it is to be shown. */
import type { OutputOptions } from 'salt-ts'
import { type Codes, codesOf, type Screen, screen } from './_colors.ts'
import { entriesOf, kindOf } from './_values.ts'

/** The value is none that this outputter can show. */
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
  /** Lines of terse states: a sentence, a table, or of a form of one's own. */
  readonly tabular: boolean | string
}

/** Salt's defaults where nothing else is said. */
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

export const isMap = (value: unknown): boolean => kindOf(value) === 'map'

export const membersOf = (map: unknown): Map<unknown, unknown> => new Map(entriesOf(map))

/** A member that has to be there. */
export function needed(members: ReadonlyMap<unknown, unknown>, name: string): unknown {
  if (!members.has(name)) throw new NoStates()
  return members.get(name)
}

/** Whether Python takes the value for true. */
export function isTrue(value: unknown): boolean {
  const kind = kindOf(value)
  if (kind === 'list') return (value as unknown[]).length > 0
  if (kind === 'map') return entriesOf(value).length > 0
  return kind === 'float' || kind === 'int' ? Number(value) !== 0 : Boolean(value)
}

/** Milliseconds, as a number or as `5 ms`; undefined if it is neither. */
export function millisecondsOf(duration: unknown): number | undefined {
  if (duration === undefined) return 0
  const kind = kindOf(duration)
  if (kind === 'int' || kind === 'float' || kind === 'bool') return Number(duration)
  if (kind !== 'text') throw new NoStates()
  const text = (duration as string).split(' ms')[0] as string
  return /^\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?\s*$/i.test(text) ? Number(text) : undefined
}
