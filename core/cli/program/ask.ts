import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { exitCodes } from '../exit-codes.ts'

export interface Question {
  readonly text: string
  /** Do not echo what is typed. */
  readonly secret: boolean
}

/**
 * Ask questions on standard error and read each answer from a line of standard input. An answer is empty if the input
 * has ended.
 */
export async function askFor(questions: readonly Question[]): Promise<string[]> {
  const terminal = process.stdin.isTTY === true
  let hidden = false
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!hidden) process.stderr.write(chunk)
      done()
    },
  })
  const lines = createInterface({ input: process.stdin, output, terminal })
  lines.once('SIGINT', () => process.exit(exitCodes.interrupted))
  let isOver = false
  lines.once('close', () => {
    isOver = true
  })
  const typed = lines[Symbol.asyncIterator]()
  const answers: string[] = []
  try {
    for (const { text, secret } of questions) {
      hidden = false
      if (isOver) {
        output.write(text) // lines read before the end are still queued
      } else {
        lines.setPrompt(text)
        lines.prompt()
      }
      hidden = secret
      const { value, done } = await typed.next()
      if (secret && terminal) process.stderr.write('\n')
      answers.push(done ? '' : String(value))
    }
    return answers
  } finally {
    lines.close()
  }
}

/**
 * Ask a yes-or-no question on standard error and read one line of standard input. An empty line is the default; the
 * end of input is a no.
 */
export async function confirm(question: string, byDefault: boolean): Promise<boolean> {
  const lines = createInterface({ input: process.stdin })
  try {
    process.stderr.write(`${question} ${byDefault ? '[n/Y]' : '[N/y]'} `)
    for await (const line of lines) return line.trim() === '' ? byDefault : /^y(es)?$/i.test(line.trim())
    return false
  } finally {
    lines.close()
  }
}
