/** JSON that keeps what `JSON.stringify` loses: 3.0 and all digits of large integers, the order and kind of keys. */
import { floatText } from './float-text.ts'

/** Stands for what is neither JSON nor a map or list: bytes, dates. By default its text. */
type Other = (value: unknown) => string

export interface JsonLayout {
  /** Spaces per level; undefined: everything on one line. */
  readonly step?: number | undefined
  /** The members of a map in the order they are to be shown in; by default in their own. */
  readonly order?: (map: unknown) => [unknown, unknown][]
  readonly other?: Other
}

/** `{"a": 3.0}`, with blanks as Python has them. NaN and the infinities, which JSON does not have, are null. */
export function jsonText(value: unknown, layout: JsonLayout = {}): string {
  return write(value, layout, '\n')
}

/** `margin` is the line break and indentation of the line the value is on. */
function write(value: unknown, layout: JsonLayout, margin: string): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isSafeInteger(value) ? integerText(value) : numberText(value)
  if (value instanceof Number) return numberText(value.valueOf())
  if (Array.isArray(value) || value instanceof Set) return list([...value], layout, margin)
  return isMap(value) ? map(value, layout, margin) : JSON.stringify((layout.other ?? String)(value))
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
  const members = entries.map(
    ([key, member]) => `${JSON.stringify(keyText(key, layout))}: ${write(member, layout, inner)}`,
  )
  return enclose('{', members, '}', layout, margin)
}

const entriesOf = (value: unknown): [unknown, unknown][] =>
  value instanceof Map ? [...value] : Object.entries(value as object)

function isMap(value: unknown): value is object {
  if (value instanceof Map) return true
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function enclose(
  open: string,
  members: readonly string[],
  close: string,
  { step }: JsonLayout,
  margin: string,
): string {
  if (members.length === 0) return open + close
  if (step === undefined) return open + members.join(', ') + close
  const inner = deeper(margin, { step })
  return open + inner + members.join(`,${inner}`) + margin + close
}

const deeper = (margin: string, { step = 0 }: JsonLayout): string => margin + ' '.repeat(step)

function keyText(key: unknown, { other = String }: JsonLayout): string {
  if (key === null || typeof key === 'boolean' || typeof key === 'bigint') return String(key)
  if (typeof key === 'number') return Number.isSafeInteger(key) ? String(key) : floatText(key)
  if (key instanceof Number) return floatText(key.valueOf())
  return typeof key === 'string' ? key : other(key)
}
