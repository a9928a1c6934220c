import { createInterface } from 'node:readline'

/** Ask on standard error, read one line; the end of input means no. An empty line is the default. */
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
