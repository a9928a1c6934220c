import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { CommandExecutionError, SaltInvocationError } from 'salt-ts'
import { which } from '../_cmd/which.ts'

export type Compression = 'gzip' | 'bzip2' | 'xz'

const NAMES: Readonly<Record<string, Compression>> = {
  gzip: 'gzip',
  gz: 'gzip',
  bzip2: 'bzip2',
  bz2: 'bzip2',
  xz: 'xz',
  lzma: 'xz',
}
const ENDINGS: readonly [RegExp, Compression][] = [
  [/\.(?:tar\.gz|tgz)$/, 'gzip'],
  [/\.(?:tar\.bz2|tbz2)$/, 'bzip2'],
  [/\.(?:tar\.xz|txz)$/, 'xz'],
]

/** Return the compression that is given, or else the one that the name of the file asks for. @throws SaltInvocationError */
export function compressionOf(path: string, given: string | undefined): Compression | undefined {
  if (!given) return ENDINGS.find(([ending]) => ending.test(path))?.[1]
  if (Object.hasOwn(NAMES, given)) return NAMES[given]
  throw new SaltInvocationError(`Invalid compression type '${given}'`)
}

/** Check that this host can compress so, before anything is asked of Docker. @throws CommandExecutionError */
export async function requireCompression(compression: Compression | undefined): Promise<void> {
  if (!compression || compression === 'gzip' || (await which(compression)) !== null) return
  throw new CommandExecutionError(
    `The program ${compression} is not installed on this host; install it, or choose gzip.`,
  )
}

type Sink = (from: AsyncIterable<Uint8Array>) => Promise<void>

/** Give a stream to what writes it, compressed: with gzip here, else by the program of that name. */
export async function writeCompressed(
  from: Readable,
  to: Sink,
  compression: Compression | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (!compression) return pipeline(from, to, { signal })
  if (compression === 'gzip') return pipeline(from, createGzip(), to, { signal })
  const program = await which(compression)
  const child = spawn(program ?? compression, ['-c'], { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })
  const parts = [
    pipeline(from, child.stdin, { signal }),
    pipeline(child.stdout, to, { signal }),
    successOf(child, compression),
  ]
  try {
    await Promise.all(parts)
  } finally {
    child.kill('SIGKILL')
    await Promise.allSettled(parts)
  }
}

async function successOf(
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  program: string,
): Promise<void> {
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 1000)
  })
  const [code] = await once(child, 'close')
  if (code !== 0)
    throw new CommandExecutionError(`${program} failed: ${said.trim() || `return code ${code}`}`)
}
