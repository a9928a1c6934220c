/** JSON that keeps 3.0, all digits of large integers, and the order and kind of keys, unlike `JSON.stringify`. */
import { isMapping } from '../base/record.ts'
import { floatText } from './float-text.ts'

/** Returns the text of a value that JSON does not have, such as bytes or a date. `String` by default. */
type Other = (value: unknown) => string

export interface JsonLayout {
  /** Spaces per level; undefined puts everything on one line. */
  readonly step?: number | undefined
  /** Returns the members of a map in the order to write them; their own by default. */
  readonly order?: (map: unknown) => [unknown, unknown][]
  readonly other?: Other
  /** Separate members from each other, and keys from values. Default: `, ` and `: `, but `,` at the end of a line. */
  readonly separators?: readonly [member: string, key: string] | undefined
}

/**
 * Return a value as JSON with Python's spacing: `{"a": 3.0}`. NaN and the infinities, which JSON does not have, become
 * null.
 */
export function jsonText(value: unknown, layout: JsonLayout = {}): string {
  return write(value, layout, '\n')
}

/** Return text as it is, and any other value as JSON: also one for which `String` throws, such as a map with the key `toString`. */
export const valueText = (value: unknown): string => (typeof value === 'string' ? value : jsonText(value))

/** Write one value. `margin` is the line break and indentation of the line it is on. */
function write(value: unknown, layout: JsonLayout, margin: string): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? integerText(value) : numberText(value)
  if (value instanceof Number) return numberText(value.valueOf())
  if (Array.isArray(value) || value instanceof Set) return list([...value], layout, margin)
  return isMapping(value) ? map(value, layout, margin) : JSON.stringify((layout.other ?? String)(value))
}

const integerText = (value: number): string => (Object.is(value, -0) ? '-0.0' : String(value))

const numberText = (value: number): string => (Number.isFinite(value) ? floatText(value) : 'null')

function list(members: readonly unknown[], layout: JsonLayout, margin: string): string {
  const inner = deeper(margin, layout)
  return enclose(
    '[',
    members.map((member) => write(member, layout, inner)),
    ']',
    layout,
    margin,
  )
}

function map(value: object, layout: JsonLayout, margin: string): string {
  const inner = deeper(margin, layout)
  const entries = (layout.order ?? entriesOf)(value)
  const [, colon] = layout.separators ?? [', ', ': ']
  const members = entries.map(
    ([key, member]) => `${JSON.stringify(keyText(key, layout))}${colon}${write(member, layout, inner)}`,
  )
  return enclose('{', members, '}', layout, margin)
}

const entriesOf = (value: unknown): [unknown, unknown][] =>
  value instanceof Map ? [...value] : Object.entries(value as object)

function enclose(
  open: string,
  members: readonly string[],
  close: string,
  { step, separators }: JsonLayout,
  margin: string,
): string {
  if (members.length === 0) return open + close
  const [comma] = separators ?? [step === undefined ? ', ' : ',']
  if (step === undefined) return open + members.join(comma) + close
  const inner = deeper(margin, { step })
  return open + inner + members.join(comma + inner) + margin + close
}

const deeper = (margin: string, { step = 0 }: JsonLayout): string => margin + ' '.repeat(step)

function keyText(key: unknown, { other = String }: JsonLayout): string {
  if (key === null || typeof key === 'boolean' || typeof key === 'bigint') return String(key)
  if (typeof key === 'number') return Number.isSafeInteger(key) ? String(key) : floatText(key)
  if (key instanceof Number) return floatText(key.valueOf())
  if (typeof key === 'string') return key
  return Array.isArray(key) || isMapping(key) ? jsonText(key, { other }) : other(key)
}
