import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'

/** V8 and Node write such lines when the process dies, and nothing but native text follows. */
const NATIVE = /^<--- (Last few GCs|JS stacktrace) --->$|^----- (Native|JavaScript) stack trace -----$/
/** Lines that may be the first of it. */
const PERHAPS_NATIVE = /^\s*$|^FATAL ERROR: |^\s*# /
/** The beginnings of these, which have no end yet. */
const BEGINS_NATIVE = /^(\s*|\s*#.*|<[- ].{0,40}|<|-{1,5}|-----.{0,40}|F|FA|FATAL.*)$/
/** What it says of the reason. */
const REASON = /^FATAL ERROR: (.+)$|^\s*#\s+(Assertion failed: .+|Fatal .+)$/m

/** Characters that are kept. */
const KEPT = 8192
/** A process that is over may have left one that has its standard error open. Milliseconds. */
const WAIT_MS = 200

interface Uses {
  /** What is meant for people: to the standard error of this process, if not said otherwise. */
  readonly pass?: (text: string) => void
  /** The stacks that a process dies with, when it is over: of use to few. */
  readonly native: (text: string) => void
}

/** Reads the standard error of a process: lines are passed on, but not the native text that V8 and Node die with. */
export class LastWords {
  readonly #uses: Uses
  readonly #ended: Promise<void>
  /** Of a line that has no end yet. */
  #part = ''
  /** Lines that may be the first of native text. */
  #held = ''
  #native = ''
  /** The beginning of a line was passed on. */
  #isInLine = false

  constructor(stream: Readable | null, uses: Uses) {
    this.#uses = uses
    stream?.setEncoding('utf8').on('data', (text: string) => this.#take(text))
    this.#ended = new Promise<void>((resolve) => (stream ? stream.once('close', resolve) : resolve())).then(
      () => this.#end(),
    )
  }

  /** What the process says it dies of, when it is over; undefined if it does not say. */
  async reason(): Promise<string | undefined> {
    await Promise.race([this.#ended, delay(WAIT_MS, undefined, { ref: false })])
    const [, fatal, failed] = REASON.exec(this.#native) ?? []
    return fatal ?? failed
  }

  #take(text: string): void {
    const lines = (this.#part + text).split('\n')
    this.#part = lines.pop() ?? ''
    for (const line of lines) this.#line(`${line}\n`)
    if (this.#native !== '' || this.#part === '') return
    if (this.#isInLine || this.#part.length >= KEPT || !BEGINS_NATIVE.test(this.#part)) this.#passPart()
  }

  /** Somebody may wait for a question to be shown. */
  #passPart(): void {
    this.#pass(this.#held + this.#part)
    this.#held = ''
    this.#part = ''
    this.#isInLine = true
  }

  #line(line: string): void {
    if (this.#native !== '') this.#native = (this.#native + line).slice(0, KEPT)
    else if (this.#isInLine) {
      this.#pass(line)
      this.#isInLine = false
    } else if (NATIVE.test(line.trimEnd())) {
      this.#native = this.#held + line
      this.#held = ''
    } else if (PERHAPS_NATIVE.test(line) && this.#held.length < KEPT) this.#held += line
    else {
      this.#pass(this.#held + line)
      this.#held = ''
    }
  }

  #end(): void {
    if (this.#part !== '') this.#line(this.#part)
    if (this.#held !== '') this.#pass(this.#held)
    if (this.#native !== '') this.#uses.native(this.#native.trim())
  }

  #pass(text: string): void {
    const { pass = (text) => process.stderr.write(text) } = this.#uses
    pass(text)
  }
}

/** How a process ended: `ran out of memory: …`, `was ended by SIGKILL`. */
export function howItEnded(
  code: number | null,
  signal: NodeJS.Signals | null,
  reason: string | undefined,
): string {
  if (reason?.includes('out of memory')) return `ran out of memory: ${reason}`
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${code ?? 'unknown'}`
  return reason === undefined ? how : `${how}: ${reason}`
}
