import type { Readable } from 'node:stream'
import { endsWithin } from '../base/with-timeout.ts'

/** Lines that V8 and Node write when the process crashes. Only native text follows them. */
const NATIVE = /^<--- (Last few GCs|JS stacktrace) --->$|^----- (Native|JavaScript) stack trace -----$/
/** Lines that may begin native text. */
const PERHAPS_NATIVE = /^\s*$|^FATAL ERROR: |^\s*# /
/** Incomplete lines that may begin native text. */
const BEGINS_NATIVE = /^(\s*|\s*#.*|<[- ].{0,40}|<|-{1,5}|-----.{0,40}|F|FA|FATAL.*)$/
/** The reason of a crash in native text. */
const REASON = /^FATAL ERROR: (.+)$|^\s*#\s+(Assertion failed: .+|Fatal .+)$/m

/** Maximum number of characters of native text that are kept. */
const MAX_CHARACTERS = 8192
/** Time to wait for the end of standard error, which a surviving child of the process may keep open. */
const WAIT_MS = 200

interface Outputs {
  /** Called with normal output. By default it is written to the standard error of this process. */
  readonly pass?: (text: string) => void
  /** Called at the end with the native stacks of a crash, which help only developers. */
  readonly native: (text: string) => void
}

/** Filters the standard error of a process: passes lines on, except the native text that V8 and Node write at a crash. */
export class StderrFilter {
  readonly #outputs: Outputs
  readonly #ended: Promise<void>
  /** The beginning of a line that is not complete yet. */
  #part = ''
  /** Lines that may begin native text. */
  #held = ''
  #native = ''
  /** Whether the beginning of the current line was passed on. */
  #isInLine = false

  constructor(stream: Readable | null, outputs: Outputs) {
    this.#outputs = outputs
    stream?.setEncoding('utf8').on('data', (text: string) => this.#onText(text))
    this.#ended = new Promise<void>((resolve) => (stream ? stream.once('close', resolve) : resolve())).then(
      () => this.#end(),
    )
  }

  /** Resolves after the end of the process with the reason of a crash, if it wrote one. */
  async reason(): Promise<string | undefined> {
    await endsWithin(this.#ended, WAIT_MS)
    const [, fatal, failed] = REASON.exec(this.#native) ?? []
    return fatal ?? failed
  }

  #onText(text: string): void {
    const lines = (this.#part + text).split('\n')
    this.#part = lines.pop() ?? ''
    for (const line of lines) this.#line(`${line}\n`)
    if (this.#native !== '' || this.#part === '') return
    if (this.#isInLine || this.#part.length >= MAX_CHARACTERS || !BEGINS_NATIVE.test(this.#part))
      this.#passPart()
  }

  /** Pass on an incomplete line, which may be a prompt. */
  #passPart(): void {
    this.#pass(this.#held + this.#part)
    this.#held = ''
    this.#part = ''
    this.#isInLine = true
  }

  #line(line: string): void {
    if (this.#native !== '') this.#native = (this.#native + line).slice(0, MAX_CHARACTERS)
    else if (this.#isInLine) {
      this.#pass(line)
      this.#isInLine = false
    } else if (NATIVE.test(line.trimEnd())) {
      this.#native = this.#held + line
      this.#held = ''
    } else if (PERHAPS_NATIVE.test(line) && this.#held.length < MAX_CHARACTERS) this.#held += line
    else {
      this.#pass(this.#held + line)
      this.#held = ''
    }
  }

  #end(): void {
    if (this.#part !== '') this.#line(this.#part)
    if (this.#held !== '') this.#pass(this.#held)
    if (this.#native !== '') this.#outputs.native(this.#native.trim())
  }

  #pass(text: string): void {
    const { pass = (text) => process.stderr.write(text) } = this.#outputs
    pass(text)
  }
}

/** Return a clause about the end of a process: `ran out of memory: …`, `was ended by SIGKILL`. */
export function exitText(
  code: number | null,
  signal: NodeJS.Signals | null,
  reason: string | undefined,
): string {
  if (reason?.includes('out of memory')) return `ran out of memory: ${reason}`
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${code ?? 'unknown'}`
  return reason === undefined ? how : `${how}: ${reason}`
}
