import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { exitCodes } from './exit-codes.ts'

export interface Question {
  readonly text: string
  /** Nothing of what is typed is shown. */
  readonly secret: boolean
}

/** Ask on standard error; each answer is a line of standard input, an empty one where that has ended. */
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
        output.write(text) // lines that were read before the end are still to come
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
