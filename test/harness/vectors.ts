import { readFileSync } from 'node:fs'
import { DateTime, Float, type Value } from '../../core/codec/index.ts'

const folder = new URL('../vectors/data/', import.meta.url)

/** A file of golden data recorded from Python Salt (test/vectors/data), by name (`rsa` or `rsa.json`). */
// biome-ignore lint/suspicious/noExplicitAny: every file has a shape of its own
export function vectors<Shape = any>(name: string): Shape {
  return JSON.parse(readFileSync(new URL(name.endsWith('.json') ? name : `${name}.json`, folder), 'utf8'))
}

/** Bytes written as base64. */
export function bytes(base64: string): Buffer {
  return Buffer.from(base64, 'base64')
}

/** The value that a note of the golden data stands for, as `decode` gives it (`{"$float": "3.0"}` is a Float). */
export function parseNote(note: unknown): Value {
  if (Array.isArray(note)) return note.map(parseNote)
  if (typeof note !== 'object' || note === null) return note as Value
  const [form, content] = Object.entries(note)[0] ?? []
  const read = form === undefined ? undefined : forms.get(form)
  if (read) return read(content)
  return Object.fromEntries(Object.entries(note).map(([key, value]) => [key, parseNote(value)]))
}

/** The forms for what JSON cannot carry. */
// biome-ignore lint/suspicious/noExplicitAny: each form has content of its own
const forms = new Map<string, (content: any) => Value>([
  ['$bytes_b64', bytes],
  ['$bytes_hex', (hex: string) => Buffer.from(hex, 'hex')],
  ['$int', (digits: string) => integer(BigInt(digits))],
  ['$float', (digits: string) => float(digits)],
  ['$repr', (python: string) => dateTime(python)],
  ['$tuple', (items: unknown[]) => items.map(parseNote)],
  ['$set', (items: unknown[]) => items.map(parseNote)],
  [
    '$map',
    (pairs: [unknown, unknown][]) => new Map(pairs.map(([key, value]) => [parseNote(key), parseNote(value)])),
  ],
])

function integer(value: bigint): Value {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}

function float(digits: string): Value {
  const value = Number(digits.replace('inf', 'Infinity'))
  return Number.isSafeInteger(value) ? new Float(value) : value
}

/** `datetime.datetime(2026, 11, 20, 9, 39, 6, 867843)` */
function dateTime(python: string): Value {
  const [year, ...parts] = python.match(/\d+/g) ?? []
  const [month, day, hour, minute, second] = parts.map((part) => part.padStart(2, '0'))
  return new DateTime(`${year}${month}${day}T${hour}:${minute}:${second}.${parts[5]?.padStart(6, '0')}`)
}
