import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { CommandExecutionError, type Context } from 'salt-ts'
import { withoutNotifySocket } from '../_cmd/env.ts'
import { which } from '../_cmd/which.ts'

/** Anybody may write to the journal, so that entries may be as large as they like. */
const MAX_ENTRY_BYTES = 1024 * 1024
const MAX_BYTES = 16 * 1024 * 1024

type Journalctl = ChildProcessByStdio<null, Readable, Readable>

/**
 * Run journalctl with `-o json`, and return the lines it prints: no more than `count`, none that is larger than a megabyte, and
 * 16 megabytes in all. It is ended once these are read. @throws CommandExecutionError with what journalctl says
 */
export async function readEntries(
  args: readonly string[],
  count: number,
  { signal, log }: Pick<Context, 'signal' | 'log'>,
): Promise<string[]> {
  const program = await which('journalctl')
  if (program === null) throw new CommandExecutionError("Command 'journalctl' cannot be found")
  signal.throwIfAborted()
  const env = { ...withoutNotifySocket(process.env), LC_ALL: 'C', SYSTEMD_COLORS: '0' }
  const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'pipe'], signal })
  const reading = collect(child.stdout, count, log).finally(() => child.kill())
  // Its end comes first: it says why nothing could be read.
  const [ended, entries] = await Promise.allSettled([endOf(child), reading])
  if (ended.status === 'rejected') throw ended.reason
  if (entries.status === 'rejected') throw entries.reason
  const { code, stderr } = ended.value
  // It also complains if it is ended while it prints. With --grep its code is 1 if nothing matches.
  if (entries.value.areAll && code && stderr !== '')
    throw new CommandExecutionError(`journalctl failed: ${stderr}`)
  return entries.value.entries
}

interface Collected {
  readonly entries: string[]
  /** Whether it read to the end. */
  readonly areAll: boolean
}

async function collect(output: Readable, count: number, log: Context['log']): Promise<Collected> {
  const entries: string[] = []
  let bytes = 0
  for await (const line of linesOf(output)) {
    if (line === undefined) {
      log.warn('An entry of the journal that is larger than a megabyte was left out')
      continue
    }
    bytes += line.length
    if (bytes > MAX_BYTES) {
      log.warn(`Only the last ${entries.length} entries were read, since more are larger than 16 megabytes`)
      return { entries, areAll: false }
    }
    entries.push(line.toString())
    if (entries.length === count) return { entries, areAll: false }
  }
  return { entries, areAll: true }
}

/** Split a stream into lines; one that is too large is undefined, and is not kept in memory. */
async function* linesOf(output: Readable): AsyncGenerator<Buffer | undefined> {
  let parts: Buffer[] = []
  let size = 0
  for await (const chunk of output as AsyncIterable<Buffer>) {
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      size += at - from
      yield size > MAX_ENTRY_BYTES ? undefined : Buffer.concat([...parts, chunk.subarray(from, at)])
      parts = []
      size = 0
      from = at + 1
    }
    size += chunk.length - from
    parts = size > MAX_ENTRY_BYTES ? [] : [...parts, chunk.subarray(from)]
  }
}

async function endOf(child: Journalctl): Promise<{ code: number | null; stderr: string }> {
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk).slice(0, 4096)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stderr: stderr.trim() }
}
