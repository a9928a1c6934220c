import { constants } from 'node:buffer'
import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync, fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { openInput, openPipes, type Pipe } from './pipes.ts'
import type { PipeIdentity } from './tree.ts'

/** Standard streams of a command. */
export interface Stdio {
  /** Option `stdio` of spawn. */
  readonly stdio: StdioOptions
  /** False if stdout and stderr should share a pipe but do not: the launcher then has to redirect stderr. */
  readonly joined: boolean
  readonly pipes: readonly PipeIdentity[]
  /** Start to collect the output. Called after spawn. */
  attach(child: ChildProcess): Collected
  /** Close the streams. Called instead of `attach` if spawn failed. */
  discard(): void
}

/**
 * Output collected so far. `closed` resolves when no process can write any more, and rejects if the output is too long.
 */
export interface Collected {
  readonly closed: Promise<void>
  stdout(): Buffer
  stderr(): Buffer
  destroy(): void
}

/** Prepare the standard streams. With `merged`, stdout and stderr share a pipe, which keeps their order. */
export async function openStdio(merged: boolean, input: Buffer | undefined): Promise<Stdio> {
  const inputFile = input && (await openInput(input))
  const outputs = await openPipes(merged ? 1 : 2)
  const output = outputs ? throughPipes(outputs) : throughSockets(merged)
  const closeInput = () => {
    if (inputFile !== undefined) closeSync(inputFile)
  }
  return {
    ...output,
    stdio: [inputFile ?? (input ? 'pipe' : 'ignore'), ...output.stdio],
    attach(child) {
      closeInput()
      // A program may end without reading its input.
      child.stdin?.on('error', () => {}).end(input)
      return output.attach(child)
    },
    discard() {
      closeInput()
      output.discard()
    },
  }
}

type Output = Omit<Stdio, 'stdio'> & { readonly stdio: ('pipe' | 'ignore' | number)[] }

function throughPipes(pipes: readonly Pipe[]): Output {
  const closeTheirs = () => {
    for (const { theirs } of pipes) closeSync(theirs)
  }
  const [out, err = out] = pipes as [Pipe, Pipe?]
  return {
    stdio: [out.theirs, (err ?? out).theirs],
    joined: true,
    pipes: pipes.map(({ ours }) => identity(ours)),
    attach() {
      closeTheirs()
      return collect(pipes.map(({ ours }) => new Socket({ fd: ours, readable: true, writable: false })))
    },
    discard() {
      closeTheirs()
      for (const { ours } of pipes) closeSync(ours)
    },
  }
}

function throughSockets(merged: boolean): Output {
  return {
    stdio: ['pipe', merged ? 'ignore' : 'pipe'],
    joined: !merged,
    pipes: [],
    attach: ({ stdout, stderr }) => collect([stdout, stderr].filter((stream) => stream !== null)),
    discard() {},
  }
}

function identity(fd: number): PipeIdentity {
  const { dev, ino } = fstatSync(fd)
  return { dev, ino }
}

function collect(streams: readonly Readable[]): Collected {
  const chunks: Buffer[][] = streams.map(() => [])
  const closed = streams.map((stream, index) => collectOne(stream, chunks[index]!))
  return {
    closed: Promise.all(closed).then(() => undefined),
    stdout: () => Buffer.concat(chunks[0]!),
    stderr: () => Buffer.concat(chunks[1] ?? []),
    destroy: () => {
      for (const stream of streams) stream.destroy()
    },
  }
}

// Output longer than the longest string of Node could not be returned anyway.
function collectOne(stream: Readable, chunks: Buffer[]): Promise<void> {
  let size = 0
  return new Promise((resolve, reject) => {
    stream.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= constants.MAX_STRING_LENGTH) chunks.push(chunk)
      else reject(new RangeError('too much output'))
    })
    stream.on('error', () => resolve())
    stream.on('close', () => resolve())
  })
}
