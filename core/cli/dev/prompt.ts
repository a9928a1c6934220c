import { clearLine, createInterface, cursorTo, type Interface } from 'node:readline'
import { printNote, registerLiveLine } from '../output/console.ts'

/** Returns the completions of the last word of a line, and that word. */
type Complete = (line: string) => Promise<[words: string[], last: string]>

export interface LineActions {
  /** Run a line. Resolves with false if it asks to exit. */
  run(line: string): Promise<boolean>
  /** Called for Ctrl-C while a line runs. */
  onInterrupt(): void
}

const PROMPT = 'salt> '
const MAX_HISTORY = 1000

/** Reads lines: from a terminal with a prompt, completion and history, or else from standard input as it is. */
export class Prompt {
  readonly #lines: Interface
  /** Its lines; those that come before they are read are kept. */
  readonly #read: AsyncIterator<string>
  readonly #isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true
  readonly #unregister: () => void
  /** Ends the line that runs. */
  #interrupt: (() => void) | undefined
  #isShown = false

  constructor(complete: Complete) {
    const completer = (line: string, done: (error: null, result: [string[], string]) => void) =>
      void complete(line).then(
        (result) => done(null, result),
        () => done(null, [[], line]),
      )
    this.#lines = createInterface({
      input: process.stdin,
      terminal: this.#isTerminal,
      ...(this.#isTerminal && {
        output: process.stdout,
        prompt: PROMPT,
        historySize: MAX_HISTORY,
        completer,
      }),
    })
    this.#read = this.#lines[Symbol.asyncIterator]()
    this.#lines.on('SIGINT', () => this.#onInterrupt())
    this.#unregister = registerLiveLine(() => this.#hide())
  }

  /** Run lines, one after the other, up to the end of the input, `exit`, or Ctrl-C in an empty line. */
  async read({ run, onInterrupt }: LineActions): Promise<void> {
    for (;;) {
      this.#show()
      const { done, value } = await this.#read.next()
      if (done) return
      this.#isShown = false
      this.#interrupt = onInterrupt
      const goesOn = await run(value)
      this.#interrupt = undefined
      if (!goesOn) return
    }
  }

  /** Print text for the author, above the prompt. */
  note(text: string): void {
    const wasShown = this.#isShown
    printNote(text)
    if (wasShown) this.#show()
  }

  close(): void {
    this.#unregister()
    this.#lines.close()
  }

  #show(): void {
    if (!this.#isTerminal) return
    this.#isShown = true
    this.#lines.prompt(true)
  }

  #hide(): void {
    if (!this.#isShown) return
    this.#isShown = false
    cursorTo(process.stdout, 0)
    clearLine(process.stdout, 0)
  }

  /** Ctrl-C ends what runs; else it discards what was typed, or ends the prompt. */
  #onInterrupt(): void {
    if (this.#interrupt) this.#interrupt()
    else if (this.#lines.line === '') this.#lines.close()
    else {
      this.#lines.write(null, { ctrl: true, name: 'e' })
      this.#lines.write(null, { ctrl: true, name: 'u' })
    }
  }
}
