/** The two sides of a comparison. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { withTimeout } from '../../core/base/with-timeout.ts'
import { loadMinionConfig } from '../../core/config/index.ts'
import { readJson } from '../../core/dialect/read-json.ts'
import { typedWords } from '../../core/loader/calls/typed.ts'
import { parseWords } from '../../core/loader/calls/words.ts'
import { callFunction } from '../../core/minion/call.ts'
import { quietLog } from '../harness/log.ts'
import type { Answer } from './answer.ts'

const LONGEST_CALL_MS = 60_000

type Returned = Omit<Answer, 'files' | 'ms'>

/** Runs the function that words name, as a minion does. */
export interface Peer {
  run(words: readonly string[]): Promise<Returned>
  close(): Promise<void>
}

/** Run calls in this process. */
export function openOwn(configDir: string): Peer {
  const { config } = loadMinionConfig({ configDir })
  return {
    async run([fun = '', ...words]) {
      const call = { fun, ...parseWords(words), words: typedWords(words) }
      const result = callFunction({ config, local: true, returnToMaster: false, log: quietLog, ...call })
      const {
        return: value,
        retcode,
        success,
      } = await withTimeout(result, LONGEST_CALL_MS, () => new Error(`${fun} takes too long`)).catch(
        (error: unknown) => ({ return: String(error), retcode: null, success: false }),
      )
      return { value, retcode, success }
    },
    close: async () => {},
  }
}

/** Run calls in a process of Python Salt, whose sources are in the folder `sources`. */
export function openPython(configDir: string, sources: string, python: string): Peer {
  const program = join(import.meta.dirname, 'python.py')
  const env = { ...process.env, PYTHONPATH: sources, PYTHONWARNINGS: 'ignore' }
  const child = spawn(python, [program, configDir], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    async run(words) {
      child.stdin.write(`${JSON.stringify(words)}\n`)
      const { value: line } = await answers.next()
      if (line === undefined) throw new Error(`Python Salt ended at ${words.join(' ')}`)
      const {
        return: value = null,
        retcode = null,
        success = false,
      } = readJson(line) as Record<string, unknown>
      return { value, retcode, success: success === true }
    },
    async close() {
      child.stdin.end()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    },
  }
}
