import { threadId } from 'node:worker_threads'
import { closest } from '../base/closest.ts'
import { strftime } from '../dialect/strftime.ts'
import type { Origin } from './component.ts'
import { escapeControls } from './sanitize.ts'

/** A log record as a handler gets it. */
export interface LogRecord extends Partial<Origin> {
  readonly time: Date
  /** Name of the level in upper case. */
  readonly levelName: string
  readonly level: number
  /** Name of the component, such as `salt.channel.server`. */
  readonly name: string
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

type Render = (record: LogRecord) => string
type FieldValue = (record: LogRecord, datefmt: string) => string | number

/**
 * The fields of a line, by Python's names. The location in the code would be expensive to determine, and is useless in bundled code:
 * those fields contain the values that Python uses for unknown locations.
 */
const fields = new Map<string, FieldValue>([
  ['asctime', ({ time }, datefmt) => strftime(datefmt, time)],
  ['created', ({ time }) => time.getTime() / 1000],
  ['relativeCreated', () => performance.now()],
  ['msecs', ({ time }) => time.getMilliseconds()],
  ['levelname', ({ levelName }) => levelName],
  ['levelno', ({ level }) => level],
  ['name', ({ name }) => name],
  ['module', ({ name }) => name.slice(name.lastIndexOf('.') + 1)],
  ['message', text],
  ['process', processOf],
  ['processName', ({ processName }) => processName ?? ownName()],
  ['thread', () => threadId],
  ['threadName', () => (threadId === 0 ? 'MainThread' : `Thread-${threadId}`)],
  ['lineno', () => 0],
  ['funcName', () => '(unknown function)'],
  ['filename', () => '(unknown file)'],
  ['pathname', () => '(unknown file)'],
  ['jid', ({ facts }) => (facts.jid === undefined ? '' : `[JID: ${facts.jid}]`)],
  ...bracketed('color'),
  ...bracketed('bracket'),
  ['colormsg', text],
])

/** Return Salt's additional fields, such as `%(colorlevel)s`. */
function bracketed(prefix: string): [string, FieldValue][] {
  return [
    [`${prefix}level`, ({ levelName }) => `[${levelName.padEnd(8)}]`],
    [`${prefix}name`, ({ name }) => `[${name.padEnd(17)}]`],
    [`${prefix}process`, (record) => `[${String(processOf(record)).padStart(5)}]`],
  ]
}

function processOf(record: LogRecord): number {
  return record.process ?? process.pid
}

/**
 * Return the name of this process: the part of its title after the program (`salt-master MWorker-0`), else Python's
 * `MainProcess`.
 */
const ownName = (): string => /^salt\S* (\S+)$/.exec(process.title)?.[1] ?? 'MainProcess'

const FIELD = /%(?:%|\((\w+)\)([-0]*)(\d*)(?:\.(\d+))?([sdifrx]))/g

/** Return a sentence for each unknown field of the two line formats. Such a field stays empty. */
export function unknownFields(formats: {
  readonly log_fmt_console?: string
  readonly log_fmt_logfile?: string
}): string[] {
  return (['log_fmt_console', 'log_fmt_logfile'] as const).flatMap((option) =>
    [...(formats[option] ?? '').matchAll(FIELD)].flatMap(([, name]) => {
      if (name === undefined || fields.has(name)) return []
      const meant = closest(name, fields.keys())
      const hint = meant ? ` Did you mean %(${meant})s?` : ''
      return [`The option ${option} contains the unknown field %(${name})s, which stays empty.${hint}`]
    }),
  )
}

/**
 * Compile a Python format such as `%(asctime)s [%(name)-17s][%(levelname)-8s] %(message)s` to a function that renders a record as one
 * line, followed by its indented stack. Unknown fields are empty.
 */
export function compileFormat(format: string, datefmt: string): Render {
  const parts: Render[] = []
  let end = 0
  for (const match of format.matchAll(FIELD)) {
    const literal = format.slice(end, match.index)
    parts.push(() => literal, match[1] === undefined ? () => '%' : field(match, datefmt))
    end = match.index + match[0].length
  }
  const tail = format.slice(end)
  return (record) => `${parts.map((render) => render(record)).join('')}${tail}${stackOf(record)}\n`
}

function field([, name = '', flags = '', width, precision, type]: RegExpExecArray, datefmt: string): Render {
  const read = fields.get(name) ?? (() => '')
  return (record) => {
    const value = read(record, datefmt)
    return padded(converted(value, type ?? 's', precision), flags, Number(width || 0))
  }
}

function converted(value: string | number, type: string, precision: string | undefined): string {
  if (typeof value === 'string')
    return escapeControls(precision === undefined ? value : value.slice(0, Number(precision)))
  if (type === 'f') return value.toFixed(Number(precision ?? 6))
  if (type === 'x') return Math.trunc(value).toString(16)
  const whole = type === 's' ? String(value) : String(Math.trunc(value))
  return precision === undefined ? whole : whole.padStart(Number(precision), '0')
}

function padded(text: string, flags: string, width: number): string {
  if (flags.includes('-')) return text.padEnd(width)
  return text.padStart(width, flags.includes('0') ? '0' : ' ')
}

/**
 * Return the message with facts inserted at their names in braces (`tag = {tag}`), followed by the other facts as `name=value`.
 */
function text({ message, facts }: LogRecord): string {
  const others = new Map(Object.entries(facts))
  const filled = message.replace(/\{(\w+)\}/g, (written, name: string) => {
    if (!Object.hasOwn(facts, name)) return written
    others.delete(name)
    return factText(facts[name])
  })
  return filled + Array.from(others, ([name, value]) => ` ${name}=${factText(value)}`).join('')
}

function factText(value: unknown): string {
  if (isError(value)) return JSON.stringify(value.message)
  return typeof value === 'string' && /^[\w./:@+*-]+$/.test(value) ? value : JSON.stringify(value)
}

/** Return the stacks among the facts. Their lines are indented, so that they cannot be mistaken for records. */
function stackOf({ facts }: LogRecord): string {
  const lines = Object.values(facts)
    .filter(isError)
    .flatMap(({ stack }) => stack.split('\n'))
  return lines.map((line) => `\n    ${escapeControls(line)}`).join('')
}

function isError(value: unknown): value is { message: string; stack: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && typeof value.stack === 'string'
}
