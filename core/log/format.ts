import { onOneLine } from './presentable.ts'
import { strftime } from './strftime.ts'

/** One thing that happened, as a sink gets it. */
export interface LogRecord {
  readonly time: Date
  /** Upper case. */
  readonly levelName: string
  readonly level: number
  /** The component. */
  readonly name: string
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>>
}

type Render = (record: LogRecord) => string
type FieldValue = (record: LogRecord, datefmt: string) => string | number

/** Python's names of what a line can show. There are no line numbers: bundled code has none that help. */
const fields = new Map<string, FieldValue>([
  ['asctime', ({ time }, datefmt) => strftime(datefmt, time)],
  ['created', ({ time }) => time.getTime() / 1000],
  ['relativeCreated', () => performance.now()],
  ['msecs', ({ time }) => time.getMilliseconds()],
  ['levelname', ({ levelName }) => levelName],
  ['levelno', ({ level }) => level],
  ['name', ({ name }) => name],
  ['module', ({ name }) => name],
  ['message', text],
  ['process', () => process.pid],
  ['processName', () => process.title],
  ['lineno', () => 0],
  ['jid', ({ facts }) => (facts.jid === undefined ? '' : `[JID: ${facts.jid}]`)],
  ['colorlevel', ({ levelName }) => `[${levelName.padEnd(8)}]`],
  ['colorname', ({ name }) => `[${name.padEnd(17)}]`],
  ['colorprocess', () => `[${String(process.pid).padStart(5)}]`],
  ['colormsg', text],
])

/**
 * Make the function that writes a record as one line (then its stack, indented), from a Python format such as
 * `%(asctime)s [%(name)-17s][%(levelname)-8s] %(message)s`. Fields it does not know are empty.
 */
export function compileFormat(format: string, datefmt: string): Render {
  const pattern = /%(?:%|\((\w+)\)([-0]*)(\d*)(?:\.(\d+))?([sdifrx]))/g
  const parts: Render[] = []
  let end = 0
  for (const match of format.matchAll(pattern)) {
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
    return onOneLine(precision === undefined ? value : value.slice(0, Number(precision)))
  if (type === 'f') return value.toFixed(Number(precision ?? 6))
  if (type === 'x') return Math.trunc(value).toString(16)
  const whole = type === 's' ? String(value) : String(Math.trunc(value))
  return precision === undefined ? whole : whole.padStart(Number(precision), '0')
}

function padded(text: string, flags: string, width: number): string {
  if (flags.includes('-')) return text.padEnd(width)
  return text.padStart(width, flags.includes('0') ? '0' : ' ')
}

/** The message, then the facts as `name=value`. */
function text({ message, facts }: LogRecord): string {
  const shown = Object.entries(facts).map(([name, value]) => ` ${name}=${factText(value)}`)
  return message + shown.join('')
}

function factText(value: unknown): string {
  if (isError(value)) return JSON.stringify(value.message)
  return typeof value === 'string' && /^[\w./:@+*-]+$/.test(value) ? value : JSON.stringify(value)
}

/** The stacks among the facts; their lines are indented and so cannot pass for records. */
function stackOf({ facts }: LogRecord): string {
  const lines = Object.values(facts)
    .filter(isError)
    .flatMap(({ stack }) => stack.split('\n'))
  return lines.map((line) => `\n    ${onOneLine(line)}`).join('')
}

function isError(value: unknown): value is { message: string; stack: string } {
  return typeof value === 'object' && value !== null && 'stack' in value && typeof value.stack === 'string'
}
