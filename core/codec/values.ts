import { Float } from '../dialect/float.ts'

export { Float }

/** A decoded value. Maps are plain objects unless an object would lose something (see `decode`). */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Float
  | DateTime
  | NamedConstant
  | Value[]
  | Map<unknown, Value>
  | { [key: string]: Value }

const dateTimeText = /^\d{1,4}\d{4}T\d\d:\d\d:\d\d\.\d{6}$/

/** Extension type 78: a date and time without zone, `YYYYMMDDTHH:MM:SS.ffffff` (wire protocol §1). */
export class DateTime {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** Return the date-time of an instant, in UTC. */
  static from(date: Date): DateTime {
    const [day = '', time = ''] = date.toISOString().split('T')
    return new DateTime(`${day.replaceAll('-', '')}T${time.replace('Z', '000')}`)
  }

  static matches(text: string): boolean {
    return dateTimeText.test(text)
  }

  toString(): string {
    return this.text.replace(/^(\d+)(\d\d)(\d\d)T/, '$1-$2-$3T')
  }

  toJSON(): string {
    return this.toString()
  }
}

/** Extension type 79: a constant that has a name (wire protocol §1). */
export class NamedConstant {
  readonly name: string
  readonly value: Value

  constructor(name: string, value: Value) {
    this.name = name
    this.value = value
  }
}
